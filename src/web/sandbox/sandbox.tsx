import { useEffect, useState } from 'preact/hooks'
import { PERSONAS, type PersonaId } from '../../sandbox/personas.ts'
import { LanguageSwitch } from '../kit/language-switch.tsx'
import { Notice } from '../kit/notice.tsx'
import { Wordmark } from '../kit/seal.tsx'
import { DcParts } from './dc-parts.tsx'
import { Happened } from './happened.tsx'
import { ReadInPerson } from './in-person/read.tsx'
import type { Stage } from './in-person/use-phone.ts'
import { Personas } from './personas.tsx'
import { Phone } from './phone.tsx'
import { useWallet, type Wallet } from './wallet.ts'
import { useSandboxWords } from './words.ts'

/** Opened by a page in place of the browser's own wallet call. */
const IS_FOR_BROWSER = new URLSearchParams(location.search).has('dc')

/** A wallet on a page, surrounded by what a real one would not show. */
export function Sandbox() {
  const words = useSandboxWords()
  useEffect(() => {
    document.title = words.title
  }, [words])
  return (
    // Only the phone is shown in a frame.
    <div class={`app sandbox${window.parent === window ? '' : ' framed'}`}>
      <aside class="band sandbox-band" aria-label={words.bandLabel}>
        <strong>SANDBOX</strong> <span>{words.band}</span>
      </aside>
      <main class="grid">
        <h1 class="only-heard">{words.title}</h1>
        {!isSecureContext && <Notice tone="no">{words.insecure}</Notice>}
        {isSecureContext && (IS_FOR_BROWSER ? <DcParts first={readFragment().persona ?? 'adult'} /> : <Parts />)}
      </main>
      <footer class="row between">
        <Wordmark size={18} />
        <LanguageSwitch />
      </footer>
    </div>
  )
}

function Parts() {
  const wallet = useWallet(readFragment().persona ?? 'adult')
  const [isHurried, setIsHurried] = useState(false)
  const [read, setRead] = useState<Stage>()
  useFragment(wallet, setIsHurried)
  // What a wallet request says is newer than what a till asked before.
  useEffect(() => setRead(undefined), [wallet.happened?.asked])
  return (
    <>
      <Personas chosen={wallet.persona} onChoose={wallet.choose} />
      <Phone wallet={wallet} isHurried={isHurried} onRead={setRead} />
      {read && 'request' in read ? <ReadInPerson stage={read} /> : <Happened happened={wallet.happened} />}
    </>
  )
}

type Fragment = { walletUri?: string; persona?: PersonaId; isInPerson: boolean; isHurried: boolean }

/** `#wallet_uri=…&persona=…&share=now`, or `#in_person&…`, set by a page of this service. */
function readFragment(): Fragment {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const persona = fragment.get('persona') ?? ''
  return {
    walletUri: fragment.get('wallet_uri') ?? undefined,
    persona: Object.hasOwn(PERSONAS, persona) ? (persona as PersonaId) : undefined,
    isInPerson: fragment.has('in_person'),
    isHurried: fragment.get('share') === 'now',
  }
}

/** Opens each request in the address, and removes it so that the same can be set again. */
function useFragment({ open, choose, showInPerson }: Wallet, onHurry: (isHurried: boolean) => void): void {
  useEffect(() => {
    const follow = () => {
      const { walletUri, persona, isInPerson, isHurried } = readFragment()
      if (!walletUri && !persona && !isInPerson) return
      history.replaceState(null, '', location.pathname + location.search)
      if (persona) choose(persona)
      onHurry(isHurried)
      if (walletUri) open(walletUri)
      if (isInPerson) showInPerson()
    }
    follow()
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
}
