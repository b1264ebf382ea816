import { useId } from 'preact/hooks'
import { useDashboardWords } from './words.ts'

const BYTES_MAX = 64 * 1024

/** Reads the text of a small file. */
export function FileButton({ accept, onText }: { accept: string; onText: (text: string) => void }) {
  const words = useDashboardWords()
  const id = useId()
  const read = async (input: HTMLInputElement) => {
    const [file] = input.files ?? []
    if (file) onText(await file.slice(0, BYTES_MAX).text())
    // The same file may be chosen again.
    input.value = ''
  }
  return (
    <div class="file">
      <input id={id} class="only-heard" type="file" accept={accept} onChange={event => read(event.currentTarget)} />
      <label for={id} class="button plain">
        {words.file}
      </label>
    </div>
  )
}
