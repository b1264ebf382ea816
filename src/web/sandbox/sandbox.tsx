import { useEffect } from 'preact/hooks'
import { PERSONAS, type PersonaId } from '../../sandbox/personas.ts'
import { LanguageSwitch, useWords } from '../shared/language.tsx'
import { Notice } from '../shared/notice.tsx'
import { Wordmark } from '../shared/seal.tsx'
import * as de from '../shared/strings/de.ts'
import * as en from '../shared/strings/en.ts'
import { Happened } from './happened.tsx'
import { Personas } from './personas.tsx'
import { Phone } from './phone.tsx'
import { useWallet, type Wallet } from './wallet.ts'

/** A wallet in the page, with all that a real one would not show standing around it. */
export function Sandbox() {
  const words = useWords({ en: en.sandbox, de: de.sandbox })
  useEffect(() => {
    document.title = words.title
  }, [words])
  return (
    <div class="sandbox">
      <aside class="sandbox-band" aria-label={words.bandLabel}>
        <strong>SANDBOX</strong> <span>{words.band}</span>
      </aside>
      <main>
        <h1 class="only-heard">{words.title}</h1>
        {isSecureContext ? <Parts /> : <Notice tone="no">{words.insecure}</Notice>}
      </main>
      <footer>
        <Wordmark size={18} />
        <LanguageSwitch />
      </footer>
    </div>
  )
}

function Parts() {
  const wallet = useWallet(readFragment().persona ?? 'adult')
  useFragment(wallet)
  return (
    <>
      <Personas chosen={wallet.persona} onChoose={wallet.choose} />
      <Phone wallet={wallet} />
      <Happened happened={wallet.happened} />
    </>
  )
}

type Fragment = { walletUri?: string; persona?: PersonaId }

/** `#wallet_uri=…&persona=…`, from a page of this service. */
function readFragment(): Fragment {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const persona = fragment.get('persona') ?? ''
  return {
    walletUri: fragment.get('wallet_uri') ?? undefined,
    persona: Object.hasOwn(PERSONAS, persona) ? (persona as PersonaId) : undefined,
  }
}

/** Opens what the address hands over, now and whenever it changes; it is taken out of there, so that the same can be handed over again. */
function useFragment({ open, choose }: Wallet): void {
  useEffect(() => {
    const follow = () => {
      const { walletUri, persona } = readFragment()
      if (!walletUri && !persona) return
      history.replaceState(null, '', location.pathname + location.search)
      if (persona) choose(persona)
      if (walletUri) open(walletUri)
    }
    follow()
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
}
