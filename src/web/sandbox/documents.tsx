import { type DocumentState, PERSONAS } from '../../sandbox/personas.ts'
import type { Credential, Holder } from '../../sandbox/wallet/wallet.ts'
import { Seal, type SealState } from '../kit/seal.tsx'
import { useClaimWords } from '../shared/claims.ts'
import { useSandboxWords } from './words.ts'

const SEALS: Readonly<Record<DocumentState, SealState>> = {
  valid: 'verified',
  expired: 'expired',
  not_yet_valid: 'expired',
  revoked: 'refused',
  untrusted: 'refused',
}

export function Documents({ holder }: { holder: Holder | undefined }) {
  const words = useSandboxWords()
  if (!holder) {
    return (
      <div class="issuing" role="status">
        <Seal state="busy" size={64} label={words.issuing} />
      </div>
    )
  }
  const { name, picture } = personOf(holder)
  const { document } = PERSONAS[holder.persona]
  return (
    <>
      <header class="holder line middle breaks">
        <img src={picture} alt="" width={48} height={64} />
        <div>
          <strong class="large">{name}</strong>
          <p class="secondary">{words.documentStates[document]}</p>
        </div>
      </header>
      <ul class="grid tight" aria-label={words.documents}>
        {holder.credentials.map(credential => (
          <Document key={credential.type} credential={credential} seal={SEALS[document]} />
        ))}
      </ul>
    </>
  )
}

function Document({ credential, seal }: { credential: Credential; seal: SealState }) {
  const { document } = useClaimWords()
  return (
    <li class="document box line between middle">
      <div>
        <strong>{document(credential.type)}</strong>
        <p class="hint">{FORMATS[credential.format]}</p>
      </div>
      <Seal state={seal} size={28} />
    </li>
  )
}

export const FORMATS: Readonly<Record<Credential['format'], string>> = { 'dc+sd-jwt': 'SD-JWT VC', mso_mdoc: 'ISO mdoc' }

/** Name and picture of the personal ID. */
function personOf({ credentials }: Holder): { name: string; picture: string } {
  const claims = credentials.find(({ format }) => format === 'dc+sd-jwt')?.claims ?? {}
  return { name: `${claims.given_name} ${claims.family_name}`, picture: String(claims.picture) }
}
