const KEPT_MS = 60_000

/** Downloads a file. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Some browsers read it only after the click.
  setTimeout(URL.revokeObjectURL, KEPT_MS, url)
}
