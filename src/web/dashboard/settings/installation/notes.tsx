import type { ImportNote } from '../../../../signing/import.ts'
import type { RegistrationNote } from '../../../../signing/registrations.ts'
import { Notice } from '../../../kit/notice.tsx'
import { say } from '../../../shared/findings/say.ts'
import { useFindings } from '../../../shared/findings/words.ts'

export type Note = Pick<ImportNote | RegistrationNote, 'code' | 'values'>

/** On a certificate that was accepted. */
export function Notes({ notes }: { notes: readonly Note[] }) {
  const findings = useFindings()
  return notes.map(note => (
    <Notice key={note.code} tone="wait">
      {say(findings, note).detail}
    </Notice>
  ))
}
