import type { Attention } from '../../../dashboard/verification-schema.ts'
import { Icon } from '../../shared/icons.tsx'
import { useLanguage } from '../../shared/language.tsx'
import { useFormat } from '../format.ts'
import { hrefTo, Link } from '../route.tsx'
import { useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'

type Told = { sentence: string; action: string; href: string }

/** Problems that stop customers now or soon, each with a link to its remedy. */
export function AttentionList({ attention }: { attention: readonly Attention[] }) {
  const words = useDashboardWords().overview
  const tell = useTelling()
  if (attention.length === 0) {
    return (
      <p class="calm secondary">
        <Icon name="tick" />
        {words.calm}
      </p>
    )
  }
  return (
    <section class="attention" aria-labelledby="attention">
      <h2 id="attention">{words.attention}</h2>
      <ul>
        {attention.map((each, i) => {
          const { sentence, action, href } = tell(each)
          return (
            <li key={i}>
              <Icon name="warning" />
              <span>{sentence}</span>
              <Link href={href}>{action}</Link>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function useTelling(): (attention: Attention) => Told {
  const words = useDashboardWords().overview.attentions
  const { session } = useSession()
  const { number, date } = useFormat()
  const language = useLanguage()
  // Only owners may change the installation.
  const installation = hrefTo(session.user.is_owner ? 'settings/installation' : 'settings')
  const when = (at: string) => (language === 'de' ? `am ${date(at)}` : `on ${date(at)}`)
  return attention => {
    const { action } = words[attention.code]
    switch (attention.code) {
      case 'no_trust_anchors':
        return { sentence: words.no_trust_anchors.sentence, action, href: hrefTo('trust', { environment: 'live' }) }
      case 'trust_anchor_expires':
        return {
          sentence: words.trust_anchor_expires.sentence(attention.label, when(attention.not_after)),
          action,
          href: hrefTo('trust'),
        }
      case 'certificate_self_made':
        return { sentence: words.certificate_self_made.sentence, action, href: installation }
      case 'certificate_expires':
        return { sentence: words.certificate_expires.sentence(when(attention.not_after)), action, href: installation }
      case 'quota_nearly_used':
        return {
          sentence: words.quota_nearly_used.sentence(number(attention.used), number(attention.daily_quota)),
          action,
          href: hrefTo('settings'),
        }
      case 'public_url_not_https':
        return { sentence: words.public_url_not_https.sentence(attention.public_url), action, href: installation }
      case 'public_url_local':
        return { sentence: words.public_url_local.sentence(attention.public_url), action, href: installation }
      case 'token_copied':
        return {
          sentence: words.token_copied.sentence(attention.name, when(attention.revoked_at)),
          action,
          href: hrefTo('devices'),
        }
      case 'pairing_lapsed':
        return { sentence: words.pairing_lapsed.sentence(attention.name), action, href: hrefTo('devices') }
      case 'webhook_secret_split':
        return {
          sentence: words.webhook_secret_split.sentence(when(attention.at)),
          action,
          href: hrefTo('webhooks', { environment: 'test' }),
        }
      case 'webhook_failing':
        return {
          sentence: words.webhook_failing.sentence(attention.origin, attention),
          action,
          href: hrefTo(`webhooks/${attention.newest_id}`),
        }
    }
  }
}
