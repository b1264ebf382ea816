const KEPT_MS = 60_000

/** Hands a file to the browser to keep. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Some browsers fetch it only after the click is over.
  setTimeout(URL.revokeObjectURL, KEPT_MS, url)
}
