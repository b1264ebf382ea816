import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Copy } from '../../kit/copy.tsx'
import { Select } from '../../kit/field.tsx'
import { Icon } from '../../kit/icons.tsx'
import { QrCode } from '../../kit/qr.tsx'
import { Consent, SheetTitle } from '../consent.tsx'
import { End, Opening, Stopped } from '../ended.tsx'
import type { Documents } from '../issued.ts'
import { useSandboxWords } from '../words.ts'
import { type Choices, type Stage, usePhone } from './use-phone.ts'

type Props = {
  documents: Documents
  /** Shares by itself. */
  isHurried: boolean
  onStage: (stage: Stage) => void
  onClose: () => void
}

/** A code for a till, then what it asks. */
export function InPerson({ documents, isHurried, onStage, onClose }: Props) {
  const words = useSandboxWords()
  const [choices, setChoices] = useState<Choices>({ version: '1.0', mode: 'peripheral', mtu: 247 })
  const stage = usePhone(choices, documents)
  const { holder } = documents
  useEffect(() => onStage(stage), [stage])
  switch (stage.name) {
    case 'preparing':
      return <Opening />
    case 'showing':
      return (
        <div class="stack">
          <SheetTitle>{words.inPerson}</SheetTitle>
          <p>{words.holdCode}</p>
          <QrCode text={stage.code} label={words.code} />
          <Copy text={stage.code} label={words.code} />
          <ChoicesOf choices={choices} onChoose={setChoices} />
          <Button wide onClick={onClose}>
            {words.toDocuments}
          </Button>
        </div>
      )
    case 'asked':
    case 'answering':
      return (
        <Consent
          who={stage.request.readers[0] ?? words.unknownReader}
          holder={holder}
          selected={holder && stage.request.select(holder.credentials)}
          isSending={stage.name === 'answering'}
          isHurried={isHurried}
          onShare={() => stage.name === 'asked' && stage.settle(true)}
          onDecline={() => stage.name === 'asked' && stage.settle(false)}
        />
      )
    case 'done':
      return stage.isShared ? (
        <End seal="answered" title={words.sharedInPerson} more={words.tillTells} onClose={onClose} />
      ) : (
        <End seal="open" title={words.closedInPerson} more={words.endsMore.declined} onClose={onClose} />
      )
    case 'stopped':
      return (
        <Stopped problem={stage.problem} onClose={onClose}>
          {words.toDocuments}
        </Stopped>
      )
  }
}

type ChoicesProps = { choices: Choices; onChoose: (choices: Choices) => void }

function ChoicesOf({ choices, onChoose }: ChoicesProps) {
  const words = useSandboxWords().choices
  const select = <Name extends keyof Choices>(name: Name, options: (readonly [Choices[Name], string])[]) => (
    <Select
      label={words[name]}
      value={choices[name]}
      options={options}
      onChoose={chosen => onChoose({ ...choices, [name]: chosen })}
    />
  )
  return (
    <details class="unfolds">
      <summary>
        <Icon name="next" size={16} />
        {words.title}
      </summary>
      <div class="stack tight">
        {select('version', Object.entries(words.versions) as [Choices['version'], string][])}
        {select('mode', Object.entries(words.modes) as [Choices['mode'], string][])}
        {select(
          'mtu',
          [23, 185, 247, 515].map(mtu => [mtu, words.bytes(mtu)] as const),
        )}
      </div>
    </details>
  )
}
