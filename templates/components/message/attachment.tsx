import type { ContentBlock } from 'agent-session-gateway/client';
import { useEffect, useRef, useState } from 'react';
import { useAround } from '../ui/around.js';

type Media = Extract<ContentBlock, { type: 'image' | 'file' | 'audio' }>;

/** A file of a message. Reads bytes only from the gateway, with the page's credentials, and from no other host. */
export function Attachment({ block }: { readonly block: Media }) {
  const { fileId, data, mediaType, name = mediaType } = block;
  const { files } = useAround();
  const isImage = block.type === 'image';
  const [url, setUrl] = useState<string>();
  const large = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    if (!(fileId && files) && !data) return;
    const left = new AbortController();
    let made = '';
    const read =
      fileId && files
        ? files.download(fileId, { signal: left.signal }).then((response) => response.blob())
        : Promise.resolve(
            new Blob([Uint8Array.from(atob(data!), (c) => c.charCodeAt(0))], { type: mediaType }),
          );
    read.then(
      (blob) => {
        if (left.signal.aborted) return;
        // Other files than images are saved, because an opened one would be a page of this origin.
        made = URL.createObjectURL(isImage ? blob : new Blob([blob], { type: 'application/octet-stream' }));
        setUrl(made);
      },
      (error: Error) => left.signal.aborted || setProblem(error.message),
    );
    return () => {
      left.abort();
      if (made) URL.revokeObjectURL(made);
    };
  }, [files, fileId, data, mediaType, isImage]);
  if (problem) return <p className="outcome bad">{`${name}: ${problem}`}</p>;
  if (isImage && url)
    return (
      <>
        <button
          type="button"
          className="attachment picture"
          aria-label={`Open ${name}`}
          onClick={() => large.current?.showModal()}
        >
          <img src={url} alt={name} />
        </button>
        <dialog ref={large} className="large" aria-label={name}>
          <img src={url} alt={name} />
          <form method="dialog">
            <button type="submit">Close</button>
          </form>
        </dialog>
      </>
    );
  return (
    <p className="attachment">
      {url ? (
        <a href={url} download={name}>
          {name}
        </a>
      ) : (
        name
      )}
    </p>
  );
}
