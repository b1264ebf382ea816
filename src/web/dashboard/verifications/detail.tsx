import { useEffect } from 'preact/hooks'
import type { VerificationDetail, VerificationSummary } from '../../../dashboard/verifications/schema.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Copy } from '../../kit/copy.tsx'
import { Icon } from '../../kit/icons.tsx'
import { LeadsHere, QrCode } from '../../kit/qr.tsx'
import { HAS_SANDBOX, sandboxUrl, serviceUrl } from '../../shared/base.ts'
import { watchStatus } from '../../shared/live.ts'
import { useData } from '../data.ts'
import { useFormat } from '../format.ts'
import { ConfirmButton } from '../parts/confirm.tsx'
import { Facts } from '../parts/facts.tsx'
import { Json } from '../parts/json.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Panel } from '../parts/panel.tsx'
import { hrefTo, Link } from '../route.tsx'
import { ForEditors, usePlace, useSession } from '../session.tsx'
import { type TemplatesData, useTemplateTitle } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { ClaimList } from './claim-list.tsx'
import { CredentialCards } from './credential-cards.tsx'
import { Timeline } from './timeline.tsx'
import { Verdict } from './verdict.tsx'
import { useVerificationWords } from './words.ts'

type Props = {
  id: string
  templates: TemplatesData
  backTo: string
  onSeen: (verification: VerificationSummary) => void
  onErased: () => void
}

export function VerificationDetailPanel({ id, templates, backTo, onSeen, onErased }: Props) {
  const title = useTemplateTitle(templates)
  const words = useVerificationWords()
  const { environment, inTenant } = usePlace()
  const data = useData<VerificationDetail>(inTenant(`verifications/${encodeURIComponent(id)}?environment=${environment}`))
  const verification = data.value?.verification
  const isPending = verification?.status === 'pending'
  // A held answer is the only one.
  const isOpen = isPending && verification.wallet_uri !== undefined
  useEffect(() => {
    if (data.value) onSeen(summaryOf(data.value))
  }, [data.value])
  useEffect(() => {
    if (isPending) return watchStatus({ id, onStatus: data.reload, onGone: data.reload })
  }, [id, isPending])
  return (
    <Panel title={verification ? title(verification.template) : words.title} backTo={backTo}>
      <Loaded data={data}>
        {detail => (
          <>
            <Metadata metadata={detail.verification.metadata ?? {}} />
            <Verdict detail={detail} templates={templates} />
            {isOpen && <Answer detail={detail} />}
            <ClaimList verification={detail.verification} />
            <CredentialCards credentials={detail.verification.credentials ?? []} />
            <Timeline moments={detail.timeline} deliveries={detail.deliveries} isJudged={detail.is_judged} />
            <About detail={detail} title={title(detail.verification.template)} />
            <ForEditors>
              {isOpen && <Stop id={id} onDone={data.reload} />}
              <Erase id={id} onDone={onErased} />
            </ForEditors>
          </>
        )}
      </Loaded>
    </Panel>
  )
}

function summaryOf({ verification, is_judged }: VerificationDetail): VerificationSummary {
  const { claims, credentials, ...rest } = verification
  return { ...rest, is_judged }
}

/** The names that the shop gave the verification, under the title. */
function Metadata({ metadata }: { metadata: Record<string, string> }) {
  const entries = Object.entries(metadata)
  if (entries.length === 0) return null
  return <Facts facts={entries.map(([name, value]) => [<code key={name}>{name}</code>, value] as const)} />
}

/** The ways to answer a pending session. */
function Answer({ detail: { verification, environment } }: { detail: VerificationDetail }) {
  const words = useVerificationWords()
  const { wallet_uri: walletUri = '' } = verification
  return (
    <section class="answer grid">
      <figure class="stack tight">
        <QrCode text={walletUri} label={words.qrLabel} />
        <figcaption class="hint">{words.scan}</figcaption>
      </figure>
      <div class="stack tight">
        {HAS_SANDBOX && environment === 'test' && (
          <LinkButton kind="primary" href={sandboxUrl(walletUri)} target="_blank" rel="noopener">
            <Icon name="wallet" />
            {words.sandbox}
          </LinkButton>
        )}
        <LinkButton href={serviceUrl(`v/${verification.id}`)} target="_blank" rel="noopener">
          <Icon name="out" />
          {words.hosted}
        </LinkButton>
        <p class="hint">{words.following}</p>
        <LeadsHere link={walletUri} />
      </div>
    </section>
  )
}

function About({ detail: { verification, query, formats: asked }, title }: { detail: VerificationDetail; title: string }) {
  const words = useVerificationWords()
  const { copyId, formats } = useDashboardWords()
  const { time } = useFormat()
  const { id, template, purpose, expires_at, responded_at } = verification
  // Not from wallet_uri, which a viewer does not get.
  const isOpen = verification.status === 'pending' && responded_at === undefined
  return (
    <section class="stack tight">
      <h3>{words.about}</h3>
      <Copy text={id} label={copyId} />
      <Facts
        facts={[
          [words.template, template && <Link href={hrefTo(`templates/${encodeURIComponent(template)}`)}>{title}</Link>],
          [formats, asked.map(format => words.formats[format]).join(', ')],
          [words.purpose, purpose],
          [words.validUntil, isOpen && <time dateTime={expires_at}>{time(expires_at)}</time>],
        ]}
      />
      <Json title={words.query} value={query} />
      <p>
        <Link href={hrefTo('audit', { about: id })}>{words.everything}</Link>
      </p>
    </section>
  )
}

type ActProps = { id: string; onDone: () => void }

function Stop({ id, onDone }: ActProps) {
  const words = useVerificationWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const path = inTenant(`verifications/${encodeURIComponent(id)}/cancel?environment=${environment}`)
  const stop = () => call(path, { method: 'POST' }).then(onDone)
  return (
    <div class="row">
      <ConfirmButton icon="cross" title={words.stopTitle} verb={words.stop} dismiss={words.keepWaiting} onConfirm={stop}>
        {words.stopMore}
      </ConfirmButton>
    </div>
  )
}

function Erase({ id, onDone }: ActProps) {
  const words = useVerificationWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const path = inTenant(`verifications/${encodeURIComponent(id)}?environment=${environment}`)
  return (
    <div class="row">
      <ConfirmButton
        kind="danger"
        icon="trash"
        title={words.eraseTitle}
        name={words.eraseWord}
        verb={words.erase}
        onConfirm={() => call(path, { method: 'DELETE' }).then(onDone)}
      >
        {words.eraseMore}
      </ConfirmButton>
    </div>
  )
}
