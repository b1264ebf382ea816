// A log-in by a page of ours, as a program without a server does it: code and PKCE.
import { base64url, decodeJwt, decodeProtectedHeader } from 'jose'
import { useEffect, useState } from 'preact/hooks'
import type { CreateClient } from '../../../../dashboard/developers/log-ins/schema.ts'
import type { Client } from '../../../../oidc/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Icon } from '../../../kit/icons.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { serviceUrl } from '../../../shared/base.ts'
import { useAction } from '../../action.ts'
import { Json } from '../../parts/json.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useMayChange, usePlace, useSession } from '../../session.tsx'
import { useLogInsWords } from './words.ts'

const KEPT_AS = 'vidimus-try-log-in'
const TEMPLATE = 'age_over_18'
const NAME = 'Try it'

/** What the page must still know when the browser comes back. */
type Begun = { issuer: string; clientId: string; verifier: string; state: string; search: string }
type Learned = { idToken: object; claims: object } | { refusal: string }

const redirectUri = () => new URL(serviceUrl('dashboard/log-ins'), location.href).href

export function TryLogIn({ clients, onDone }: { clients: readonly Client[] | undefined; onDone: () => void }) {
  const words = useLogInsWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const mayChange = useMayChange()
  const { learned, isBusy } = useReturn()
  const begin = useAction(async () => {
    const known = clients?.find(({ auth, redirect_uris }) => auth === 'none' && redirect_uris.includes(redirectUri()))
    const body: CreateClient = { environment, name: NAME, redirect_uris: [redirectUri()], templates: [TEMPLATE], auth: 'none' }
    const client = known ?? (await call<Client>(inTenant('clients'), { method: 'POST', body }))
    onDone()
    location.assign(await beginAt(client))
  })
  if (environment !== 'test' || !mayChange) return null
  return (
    <section class="stack">
      <div class="row">
        <Button busy={begin.isBusy || isBusy} onClick={() => begin.run()}>
          <Icon name="wallet" />
          {isBusy ? words.tryBusy : words.tryIt}
        </Button>
      </div>
      <Problem of={begin.problem} />
      {learned && 'refusal' in learned && <Notice tone="no">{words.tryRefused(learned.refusal)}</Notice>}
      {learned && 'claims' in learned && (
        <article class="card stack">
          <h2>{words.tryTitle}</h2>
          <p class="secondary">{words.tryMore}</p>
          <Json title={words.idToken} value={learned.idToken} />
          <Json title={words.claims} value={learned.claims} />
        </article>
      )}
    </section>
  )
}

/** The address that begins a log-in. */
async function beginAt({ issuer, id }: Client): Promise<string> {
  const [verifier, state] = [secret(), secret()]
  const begun: Begun = { issuer, clientId: id, verifier, state, search: location.search }
  sessionStorage.setItem(KEPT_AS, JSON.stringify(begun))
  const challenge = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  const query = new URLSearchParams({
    client_id: id,
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope: 'openid',
    state,
    code_challenge: base64url.encode(challenge),
    code_challenge_method: 'S256',
  })
  return `${issuer}/authorize?${query}`
}

type Returned = { begun: Begun; query: URLSearchParams }

/** Read before the page is drawn, which begins anew where the address names another shop. */
let returned = takeReturn()

function takeReturn(): Returned | undefined {
  const query = new URLSearchParams(location.search)
  const kept = query.has('iss') ? sessionStorage.getItem(KEPT_AS) : null
  if (kept === null) return undefined
  sessionStorage.removeItem(KEPT_AS)
  const begun = JSON.parse(kept) as Begun
  history.replaceState(null, '', `${location.pathname}${begun.search}`)
  return { begun, query }
}

/** Redeems the code that the browser came back with. */
function useReturn(): { learned?: Learned; isBusy: boolean } {
  const [known, setKnown] = useState<{ learned?: Learned; isBusy: boolean }>({ isBusy: false })
  useEffect(() => {
    if (!returned) return
    const { begun, query } = returned
    returned = undefined
    setKnown({ isBusy: true })
    learn(begun, query).then(
      learned => setKnown({ learned, isBusy: false }),
      error => setKnown({ learned: { refusal: String(error.message) }, isBusy: false }),
    )
  }, [])
  return known
}

async function learn({ issuer, clientId, verifier, state }: Begun, query: URLSearchParams): Promise<Learned> {
  const refusal = query.get('error')
  if (query.get('state') !== state || query.get('iss') !== issuer) return { refusal: 'state, iss' }
  if (refusal !== null) return { refusal: query.get('error_description') ?? refusal }
  const form = {
    grant_type: 'authorization_code',
    code: query.get('code') ?? '',
    redirect_uri: redirectUri(),
    client_id: clientId,
    code_verifier: verifier,
  }
  const token = await (await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(form) })).json()
  if (token.error) return { refusal: token.error_description ?? token.error }
  const headers = { authorization: `Bearer ${token.access_token}` }
  const claims = await (await fetch(`${issuer}/userinfo`, { headers })).json()
  return { idToken: { ...decodeProtectedHeader(token.id_token), ...decodeJwt(token.id_token) }, claims }
}

const secret = () => base64url.encode(crypto.getRandomValues(new Uint8Array(32)))
