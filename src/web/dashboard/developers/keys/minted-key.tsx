import type { ComponentChildren } from 'preact'
import type { MintedKey as MintedKeyWire } from '../../../../dashboard/developers/keys/schema.ts'
import { Copy } from '../../../kit/copy.tsx'
import { CopiedButton, Secret } from '../../../kit/secret.tsx'
import { useCommon } from '../../../shared/language.ts'
import { curlLine } from '../../parts/service-line.ts'
import { useKeysWords } from './words.ts'

type Props = { minted: typeof MintedKeyWire.static; onClose: () => void; children?: ComponentChildren }

/** The key is shown only here. */
export function MintedKey({ minted: { key, api_key }, onClose, children }: Props) {
  const words = useKeysWords()
  const common = useCommon()
  const line = api_key.scopes.includes('verifications:create')
    ? curlLine({ path: 'v1/verifications', key, body: { template: 'age_over_18' } })
    : curlLine({ method: 'GET', path: 'v1/usage', key })
  return (
    <div class="stack">
      <Secret text={key} label={words.minted} />
      {children}
      <div class="stack tight">
        <p class="secondary">{words.mintedTry}</p>
        <Copy text={line} label={common.command} />
      </div>
      <CopiedButton onClose={onClose} />
    </div>
  )
}
