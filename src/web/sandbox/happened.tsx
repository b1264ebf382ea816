import type { ComponentChildren } from 'preact'
import { Badge, StatusBadge } from '../kit/badge.tsx'
import { Icon } from '../kit/icons.tsx'
import { useClaimWords } from '../shared/claims.ts'
import { inLanguage, useLanguage } from '../shared/language.ts'
import { FORMATS } from './documents.tsx'
import { endedOf } from './ended.tsx'
import type { OpenedRequest } from './open-request.ts'
import type { Sent, SentDocument } from './send-answer.ts'
import type { Wallet } from './wallet.ts'
import { useSandboxWords } from './words.ts'

/** What the shop learned, then the protocol: the last request, the answer, and the response to it. */
export function Happened({ happened }: { happened: Wallet['happened'] }) {
  return (
    <Steps>
      {happened && (
        <>
          {happened.sent?.session && <Learned session={happened.sent.session} documents={happened.sent.documents} />}
          <Requested asked={happened.asked} />
          {happened.sent && <WasSent sent={happened.sent} />}
          {happened.sent && <WasAnswered sent={happened.sent} />}
        </>
      )}
    </Steps>
  )
}

export function Steps({ children }: { children: ComponentChildren }) {
  const words = useSandboxWords()
  return (
    <section class="happened stack" aria-label={words.happened}>
      <h2>{words.happened}</h2>
      {children ? <ol class="grid loose">{children}</ol> : <p class="secondary">{words.nothingYet}</p>}
    </section>
  )
}

export function Step({ title, children }: { title: ComponentChildren; children: ComponentChildren }) {
  return (
    <li class="stack tight">
      <h3>{title}</h3>
      {children}
    </li>
  )
}

type LearnedProps = { session: NonNullable<Sent['session']>; documents: readonly SentDocument[] }

/** Of a check that holds, the claims that were shown; a wallet does not learn how much of them a refusal leaves. */
function Learned({ session, documents }: LearnedProps) {
  const words = useSandboxWords()
  const { claim } = useClaimWords()
  const names = documents.flatMap(({ names = [] }) => names).map(claim)
  const learned = {
    completed: words.learnedThat([...new Set(names)].join(', ')),
    failed: documents.length > 0 ? words.learnedWhy : words.learnedNothing,
  }
  return (
    <Step title={words.learned}>
      <p>
        <StatusBadge {...endedOf(session)} />
      </p>
      <p>{learned[session.status as keyof typeof learned]}</p>
    </Step>
  )
}

function Requested({ asked: { request, session } }: { asked: OpenedRequest }) {
  const words = useSandboxWords()
  const language = useLanguage()
  const { purpose } = session
  return (
    <Step title={words.requested}>
      {purpose && (
        <dl>
          <Row name={words.purpose} value={inLanguage(purpose, language)} isText />
        </dl>
      )}
      <p class="secondary">{request.clientId.startsWith('redirect_uri:') ? words.unsigned : words.signed}</p>
      <Fold title={words.bound}>
        <dl>
          <Row name={words.clientId} value={request.clientId} />
          <Row name={words.nonce} value={request.nonce} />
          <Row name={words.responseMode} value={request.responseMode} />
        </dl>
      </Fold>
      <Json title={words.query} value={request.query} />
      <Json title={words.wholeRequest} value={request.parameters} />
    </Step>
  )
}

function WasSent({ sent: { documents, isEncrypted, length } }: { sent: Sent }) {
  const words = useSandboxWords()
  return (
    <Step title={documents.length > 0 ? words.sent : words.declined}>
      {documents.map(document => (
        <Document key={document.type} document={document} />
      ))}
      <p class="secondary">{isEncrypted ? words.encrypted(length) : words.plain(length)}</p>
    </Step>
  )
}

function Document({ document: { format, type, claims, altered, proof } }: { document: SentDocument }) {
  const words = useSandboxWords()
  const { document } = useClaimWords()
  return (
    <div class="sent-document stack tight">
      <p>
        <strong>{document(type)}</strong> <span class="hint">{FORMATS[format]}</span>
      </p>
      {Object.keys(claims).length > 0 && <Code label={document(type)} value={claims} />}
      {Object.keys(altered).length > 0 && (
        <>
          <Badge tone="no" icon="warning">
            {words.altered}
          </Badge>
          <Code label={words.altered} value={altered} />
        </>
      )}
      {proof ? <Json title={words.proof} value={proof} /> : <p class="secondary">{words.deviceSigned}</p>}
    </div>
  )
}

function WasAnswered({ sent: { answered, session } }: { sent: Sent }) {
  const words = useSandboxWords()
  return (
    <Step title={words.answered}>
      <p>
        <code>HTTP {answered.status}</code>
      </p>
      <Code label={words.answered} value={answered.body} />
      {answered.redirectUri && (
        <p>
          {words.redirect}{' '}
          <a class="breaks" href={answered.redirectUri} rel="noreferrer" target="_top">
            {answered.redirectUri}
          </a>
        </p>
      )}
      {session && <p class="secondary">{words.onlyStatus}</p>}
    </Step>
  )
}

export function Row({ name, value, isText = false }: { name: string; value: string; isText?: boolean }) {
  return (
    <>
      <dt class="small">{name}</dt>
      <dd class={isText ? 'breaks' : 'mono breaks'}>{value}</dd>
    </>
  )
}

function Fold({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <details class="unfolds">
      <summary>
        <Icon name="next" size={16} />
        {title}
      </summary>
      {children}
    </details>
  )
}

export const Json = ({ title, value }: { title: string; value: unknown }) => (
  <Fold title={title}>
    <Code label={title} value={value} />
  </Fold>
)

const TEXT_CHARS_MAX = 200

/** Long texts, such as pictures and keys, are cut. */
function Code({ label, value }: { label: string; value: unknown }) {
  const shorten = (_: string, each: unknown) =>
    typeof each === 'string' && each.length > TEXT_CHARS_MAX ? `${each.slice(0, 60)}… (${each.length})` : each
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable.
    <pre class="raw" role="group" aria-label={label} tabIndex={0}>
      {JSON.stringify(value, shorten, 2)}
    </pre>
  )
}
