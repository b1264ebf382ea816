import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { selectCredentials } from '../../sandbox/wallet/wallet.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import { Scanner } from '../kit/scan.tsx'
import { Consent } from './consent.tsx'
import { Documents } from './documents.tsx'
import { Done, Opening, Stopped } from './ended.tsx'
import { InPerson } from './in-person/in-person.tsx'
import type { Stage } from './in-person/use-phone.ts'
import type { Wallet } from './wallet.ts'
import { useSandboxWords } from './words.ts'

type Props = { wallet: Wallet; isHurried: boolean; onRead: (stage: Stage) => void }

/** The wallet: its documents, and a sheet over them for each request and result. */
export function Phone({ wallet, isHurried, onRead }: Props) {
  const words = useSandboxWords()
  const { stage, holder, documents, open, showInPerson, goHome } = wallet
  const home = (
    <>
      <Documents holder={holder} />
      <Ask onOpen={open} />
      <Button wide onClick={showInPerson}>
        {words.inPerson}
      </Button>
    </>
  )
  const sheet =
    stage.name === 'in_person' ? (
      <InPerson key={stage.name} documents={documents} isHurried={isHurried} onStage={onRead} onClose={goHome} />
    ) : (
      stage.name !== 'home' && <Sheet key={stage.name} wallet={wallet} isHurried={isHurried} />
    )
  return <Screen home={home} sheet={sheet} />
}

type ScreenProps = { home: ComponentChildren; sheet: VNode | false }

export function Screen({ home, sheet }: ScreenProps) {
  const words = useSandboxWords()
  return (
    <section class="phone" aria-label={words.phone}>
      <div class="screen">
        <p class="band phone-bar" aria-hidden="true">
          SANDBOX
        </p>
        <div class="home stack" inert={sheet !== false}>
          {home}
        </div>
        {sheet && (
          <div class="sheet" key={sheet.key}>
            {sheet}
          </div>
        )}
      </div>
    </section>
  )
}

function Sheet({ wallet, isHurried }: Omit<Props, 'onRead'>) {
  const words = useSandboxWords()
  const { stage, holder, goHome } = wallet
  switch (stage.name) {
    case 'home':
    case 'in_person':
      return null
    case 'opening':
      return <Opening />
    case 'asked':
    case 'sending':
      return (
        <Consent
          who={stage.asked.session.asked_by}
          purpose={stage.asked.session.purpose}
          holder={holder}
          selected={holder && selectCredentials(stage.asked.request.query, holder.credentials)}
          isSending={stage.name === 'sending'}
          isHurried={isHurried}
          onShare={wallet.share}
          onDecline={wallet.decline}
        />
      )
    case 'done':
      return <Done sent={stage.sent} onClose={goHome} />
    case 'stopped':
      return (
        <Stopped problem={stage.problem} onClose={goHome}>
          {holder ? words.toDocuments : words.again}
        </Stopped>
      )
  }
}

/** A request that is pasted or scanned. */
function Ask({ onOpen }: { onOpen: (walletUri: string) => void }) {
  const words = useSandboxWords()
  const [text, setText] = useState('')
  return (
    <form
      class="ask stack tight"
      onSubmit={event => {
        event.preventDefault()
        if (!text.trim()) return
        onOpen(text)
        setText('')
      }}
    >
      <Field
        label={words.paste}
        hint={words.pasteHint}
        value={text}
        placeholder="openid4vp://…"
        autocomplete="off"
        spellcheck={false}
        onText={setText}
      />
      <Button kind="primary" wide type="submit">
        {words.open}
      </Button>
      <Scanner onText={onOpen} />
    </form>
  )
}
