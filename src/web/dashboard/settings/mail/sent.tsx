import type { MailSent } from '../../../../alerts/schema.ts'
import { Notice } from '../../../kit/notice.tsx'
import { useMailWords } from './words.ts'

/** What became of a mail, in words, and what the server said. */
export function Sent({ sent, address }: { sent: MailSent | undefined; address: string }) {
  const words = useMailWords()
  return (
    <div role="status">
      {sent?.failure === null && <Notice tone="ok">{words.sent(address)}</Notice>}
      {sent?.failure && (
        <Notice tone="no">
          {words.failed(words.failures[sent.failure])}{' '}
          {sent.reply && (
            <>
              {words.reply} <code>{sent.reply}</code>
            </>
          )}
        </Notice>
      )}
    </div>
  )
}
