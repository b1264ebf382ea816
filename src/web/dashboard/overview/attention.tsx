import type { Attention } from '../../../dashboard/overview/schema.ts'
import { Icon } from '../../kit/icons.tsx'
import { Notice } from '../../kit/notice.tsx'
import { useLanguage } from '../../shared/language.ts'
import { useFormat } from '../format.ts'
import { hrefTo, Link } from '../route.tsx'
import { useSession } from '../session.tsx'
import { useOverviewWords } from './words.ts'

type AttentionText = { sentence: string; action: string; href: string }

/** Problems that stop customers now or soon, each with a link to its remedy. */
export function AttentionList({ attention }: { attention: readonly Attention[] }) {
  const words = useOverviewWords()
  const { session } = useSession()
  const tell = useTelling()
  if (attention.length === 0) {
    return (
      <p class="calm row tight secondary">
        <Icon name="tick" />
        {words.calm}
        {/* Backups, disk and the like are not of this shop. */}
        {session.user.is_owner && <Link href={hrefTo('settings/health')}>{words.health}</Link>}
      </p>
    )
  }
  const urgent = attention.filter(each => !isNotSetUp(each))
  return (
    <>
      {attention.filter(isNotSetUp).map((each, i) => {
        const { sentence, action, href } = tell(each)
        return (
          <Notice key={i}>
            {sentence} <Link href={href}>{action}</Link>
          </Notice>
        )
      })}
      {urgent.length > 0 && <Urgent attention={urgent} />}
    </>
  )
}

/** Neither in order nor wrong, as in Health. */
const isNotSetUp = ({ code }: Attention): boolean => code === 'public_url_local'

function Urgent({ attention }: { attention: readonly Attention[] }) {
  const words = useOverviewWords()
  const tell = useTelling()
  return (
    <section class="attention" aria-labelledby="attention">
      <h2 id="attention" class="large">
        {words.attention}
      </h2>
      <ul class="plain">
        {attention.map((each, i) => {
          const { sentence, action, href } = tell(each)
          return (
            <li key={i}>
              <Icon name="warning" />
              <span>{sentence}</span>
              <Link class="touch" href={href}>
                {action}
              </Link>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function useTelling(): (attention: Attention) => AttentionText {
  const words = useOverviewWords().attentions
  const { session } = useSession()
  const { number, date } = useFormat()
  const language = useLanguage()
  // Only owners may change the installation.
  const installation = hrefTo(session.user.is_owner ? 'settings/installation' : 'settings')
  const when = (at: string) => (language === 'de' ? `am ${date(at)}` : `on ${date(at)}`)
  return each => {
    const told = (sentence: string, href: string): AttentionText => ({ sentence, action: words[each.code].action, href })
    switch (each.code) {
      case 'no_trust_anchors':
        return told(words.no_trust_anchors.sentence, hrefTo('trust', { environment: 'live' }))
      case 'trust_anchor_expires':
        return told(words.trust_anchor_expires.sentence(each.label, when(each.not_after)), hrefTo('trust'))
      case 'trust_list_stale':
        return told(
          words.trust_list_stale.sentence(each.label, date(each.until)),
          hrefTo('trust', { environment: each.environment }),
        )
      case 'trust_list_ended':
        return told(words.trust_list_ended.sentence(each.label), hrefTo('trust', { environment: each.environment }))
      case 'trust_list_refused':
        return told(
          words.trust_list_refused.sentence(each.label, date(each.since)),
          hrefTo('trust', { environment: each.environment }),
        )
      case 'trust_signer_changed':
        return told(words.trust_signer_changed.sentence(each.label), hrefTo('trust', { environment: each.environment }))
      case 'certificate_self_made':
        return told(words.certificate_self_made.sentence, installation)
      case 'certificate_expires':
        return told(words.certificate_expires.sentence(when(each.not_after)), installation)
      case 'registration_ends':
        return told(words.registration_ends.sentence(each.label, when(each.not_after)), installation)
      case 'quota_nearly_used':
        return told(
          words.quota_nearly_used.sentence(number(each.used), number(each.daily_quota)),
          hrefTo('settings', { quota: '' }),
        )
      case 'public_url_not_https':
        return told(words.public_url_not_https.sentence(each.public_url), installation)
      case 'public_url_local':
        return told(words.public_url_local.sentence(each.public_url), installation)
      case 'token_copied':
        return told(words.token_copied.sentence(each.name, when(each.revoked_at)), hrefTo('tills'))
      case 'pairing_lapsed':
        return told(words.pairing_lapsed.sentence(each.name), hrefTo('tills'))
      case 'webhook_failing':
        return told(words.webhook_failing.sentence(each.origin, each), hrefTo(`webhooks/${each.newest_id}`))
    }
  }
}
