import type { ContentBlock } from 'agent-session-gateway/client';
import { FileText, Paperclip, X } from 'lucide-react';
import { type ClipboardEvent, type DragEvent, useRef, useState, useSyncExternalStore } from 'react';
import { useAround } from '../ui/around.js';
import { IconButton } from '../ui/icon-button.js';

interface Upload {
  readonly key: number;
  readonly name: string;
  readonly block?: ContentBlock;
  readonly problem?: string;
  /** Address of the picture in this page. */
  readonly picture?: string | undefined;
}

let lastKey = 0;

/** The files of each draft, for as long as the page: an upload goes on while another session is shown. */
const drafts = new Map<string, readonly Upload[]>();
const listeners = new Set<() => void>();
const NONE: readonly Upload[] = [];

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Files for the next message of a draft. Each chosen, dropped or pasted file is uploaded at once. */
export function useUploads(draft: string) {
  const uploads = useSyncExternalStore(
    subscribe,
    () => drafts.get(draft) ?? NONE,
    () => NONE,
  );
  const setUploads = (change: (before: readonly Upload[]) => readonly Upload[]) => {
    drafts.set(draft, change(drafts.get(draft) ?? NONE));
    for (const listener of listeners) listener();
  };
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const { files } = useAround();

  const add = (chosen: FileList | null) => {
    for (const file of (files && chosen) ?? []) {
      const key = ++lastKey;
      const become = (change: Partial<Upload>) =>
        setUploads((all) => all.map((each) => (each.key === key ? { ...each, ...change } : each)));
      const picture = file.type.startsWith('image/') ? URL.createObjectURL(file) : undefined;
      setUploads((all) => [...all, { key, name: file.name, picture }]);
      files!.upload(file).then(
        ({ fileId, mediaType, name = file.name }) => {
          const type = mediaType.startsWith('image/')
            ? 'image'
            : mediaType.startsWith('audio/')
              ? 'audio'
              : 'file';
          become({ block: { type, fileId, mediaType, name } });
        },
        (error: Error) => become({ problem: error.message }),
      );
    }
    if (input.current) input.current.value = '';
  };
  const forget = (gone: (upload: Upload) => boolean) =>
    setUploads((all) => {
      for (const { picture } of all.filter(gone)) if (picture) URL.revokeObjectURL(picture);
      return all.filter((each) => !gone(each));
    });
  const remove = (key: number) => forget((each) => each.key === key);

  return {
    blocks: uploads.flatMap(({ block }) => (block ? [block] : [])),
    isEmpty: uploads.length === 0,
    isPending: uploads.some(({ block, problem }) => !block && problem === undefined),
    clear: () => forget(() => true),
    onPaste: (event: ClipboardEvent) => {
      if (event.clipboardData.files.length === 0) return;
      event.preventDefault();
      add(event.clipboardData.files);
    },
    /** Properties of a form that accepts dropped files. */
    dropping: {
      'data-over': over,
      onDragOver: (event: DragEvent) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        add(event.dataTransfer.files);
      },
    },
    list: uploads.length > 0 && (
      <ul className="chips" aria-label="Files of the next message">
        {uploads.map(({ key, name, block, problem, picture }) => (
          <li key={key} className={problem ? 'bad' : ''} aria-busy={!block && !problem}>
            {picture ? <img src={picture} alt="" /> : <FileText aria-hidden="true" />}
            <span className="name">{name}</span>
            <small>{problem ?? (block ? '' : 'uploading…')}</small>
            <IconButton label={`Remove ${name}`} icon={X} onClick={() => remove(key)} />
          </li>
        ))}
      </ul>
    ),
    button: files && (
      <>
        <input ref={input} type="file" hidden multiple onChange={({ target }) => add(target.files)} />
        <IconButton label="Attach" icon={Paperclip} onClick={() => input.current?.click()} />
      </>
    ),
  };
}
