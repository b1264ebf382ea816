import { useId } from 'preact/hooks'
import { useDashboardWords } from '../words.ts'

const TEXT_BYTES_MAX = 64 * 1024

type Props = { accept?: string; label?: string; onFile: (file: File) => unknown }

/** A button that opens a file. */
export function FileInput({ accept, label, onFile }: Props) {
  const words = useDashboardWords()
  const id = useId()
  const read = async (input: HTMLInputElement) => {
    const [file] = input.files ?? []
    if (file) await onFile(file)
    // The same file may be chosen again.
    input.value = ''
  }
  return (
    <div class="file">
      <input id={id} class="only-heard" type="file" accept={accept} onChange={event => read(event.currentTarget)} />
      <label for={id} class="button plain">
        {label ?? words.file}
      </label>
    </div>
  )
}

/** Reads the text of a small file. */
export function FileButton({ accept, onText }: { accept: string; onText: (text: string) => void }) {
  return <FileInput accept={accept} onFile={async file => onText(await file.slice(0, TEXT_BYTES_MAX).text())} />
}

/** The content of a file for a JSON body. */
export const base64Of = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '')
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
