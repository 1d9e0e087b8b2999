import type { ContentBlock } from 'agent-session-gateway/client';
import { useRef, useState } from 'react';
import { files } from '../shell/gateway.js';

interface Upload {
  readonly key: number;
  readonly name: string;
  readonly block?: ContentBlock;
  readonly problem?: string;
}

let lastKey = 0;

/** Files for the next message: each is uploaded as soon as it is chosen. */
export function useUploads() {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const input = useRef<HTMLInputElement>(null);

  const add = (chosen: FileList | null) => {
    for (const file of chosen ?? []) {
      const key = ++lastKey;
      const become = (change: Partial<Upload>) =>
        setUploads((all) => all.map((each) => (each.key === key ? { ...each, ...change } : each)));
      setUploads((all) => [...all, { key, name: file.name }]);
      files.upload(file).then(
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
  const remove = (key: number) => setUploads((all) => all.filter((each) => each.key !== key));

  return {
    blocks: uploads.flatMap(({ block }) => (block ? [block] : [])),
    isPending: uploads.some(({ block, problem }) => !block && problem === undefined),
    clear: () => setUploads([]),
    list: uploads.length > 0 && (
      <ul className="uploads" aria-label="Files of the next message">
        {uploads.map(({ key, name, block, problem }) => (
          <li key={key} className={problem ? 'bad' : ''}>
            {name}
            <small>{problem ?? (block ? '' : 'uploading…')}</small>
            <button type="button" className="quiet" aria-label={`Remove ${name}`} onClick={() => remove(key)}>
              ×
            </button>
          </li>
        ))}
      </ul>
    ),
    button: (
      <>
        <input ref={input} type="file" hidden multiple onChange={({ target }) => add(target.files)} />
        <button type="button" onClick={() => input.current?.click()}>
          Attach
        </button>
      </>
    ),
  };
}
