/** Saves text as a file, by a click on a link. */
export function saveFile(name: string, text: string, type: string): void {
  const link = document.createElement('a');
  const url = URL.createObjectURL(new Blob([text], { type }));
  link.href = url;
  link.download = name.replace(/[^\w.-]/g, '_');
  link.click();
  URL.revokeObjectURL(url);
}
