import { Copy } from './copy.tsx'
import { useCommon } from './language.tsx'

/** Something that is shown once: the box says so. */
export function Secret({ text, label }: { text: string; label: string }) {
  const words = useCommon()
  return (
    <div class="secret stack tight">
      <strong>{words.shownOnce}</strong>
      <Copy text={text} label={label} wraps />
    </div>
  )
}
