import type { Template } from '../../../dashboard/templates/schema.ts'
import { Icon } from '../../kit/icons.tsx'
import { useClaimWords } from '../../shared/claims.ts'
import { usePlace } from '../session.tsx'
import { useTemplatesWords } from './words.ts'

type Props = { asks: Template['asks']; query: Record<string, unknown>; purpose: string; title: string }

/** A sketch of a wallet's consent sheet. */
export function ConsentSketch({ asks, query, purpose, title }: Props) {
  const words = useTemplatesWords()
  const { tenant } = usePlace()
  const { claim, document } = useClaimWords()
  const first = firstChoice(asks, query)
  return (
    <figure class="sketch grid tight">
      <div class="phone stack between" role="img" aria-label={words.pictureLabel(title)}>
        <div class="speaker" />
        <div class="sheet grid">
          <p class="sheet-title large">{words.walletTitle}</p>
          <p class="secondary">{words.walletAsks(tenant.name)}</p>
          {first.map(({ credential, types, claims }) => (
            <div class="sheet-document box" key={credential}>
              <p class="line middle secondary">
                <Icon name="document" size={14} />
                {document(types[0] ?? '')}
              </p>
              <ul class="plain">
                {(claims.length === 0 ? [words.everything] : claims.map(claim)).map(each => (
                  <li key={each} class="line middle">
                    <Icon name="tick" size={12} />
                    {each}
                  </li>
                ))}
              </ul>
            </div>
          ))}
          <p class="secondary">
            <q>{purpose}</q>
          </p>
          <div class="sheet-buttons grid tight">
            <span>{words.walletDecline}</span>
            <span class="share">{words.walletShare}</span>
          </div>
        </div>
      </div>
      <figcaption class="hint">{words.pictureNote}</figcaption>
    </figure>
  )
}

type Sets = { options: string[][]; required?: boolean }[]

/** The request to a wallet that has everything: the first option of each required set. */
function firstChoice(asks: Template['asks'], { credential_sets }: Record<string, unknown>): Template['asks'] {
  const sets = credential_sets as Sets | undefined
  if (!sets) return asks
  const ids = sets.filter(({ required }) => required !== false).flatMap(({ options }) => options[0] ?? [])
  return asks.filter(({ credential }) => ids.includes(credential))
}
