import { useCommon } from '../shared/language.ts'
import { Button } from './button.tsx'
import { Copy } from './copy.tsx'

/** A value that is shown only once, with a warning that says so. */
export function Secret({ text, label }: { text: string; label: string }) {
  const words = useCommon()
  return (
    <div class="secret box stack tight">
      <strong>{words.shownOnce}</strong>
      <Copy text={text} label={label} wraps />
    </div>
  )
}

/** Closes a dialog that showed a secret. */
export function CopiedButton({ onClose }: { onClose: () => void }) {
  const words = useCommon()
  return (
    <div class="row end">
      <Button kind="primary" onClick={onClose}>
        {words.haveCopied}
      </Button>
    </div>
  )
}
