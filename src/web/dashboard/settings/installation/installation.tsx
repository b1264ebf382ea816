import { useState } from 'preact/hooks'
import type { Installation } from '../../../../dashboard/settings/installation/schema.ts'
import type {
  InstallationSigning,
  ReaderCertificate,
  Signing,
} from '../../../../dashboard/settings/installation/signing-schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Copy } from '../../../kit/copy.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { useAction } from '../../action.ts'
import { type Data, useData } from '../../data.ts'
import { useFormat } from '../../format.ts'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useSession } from '../../session.tsx'
import { useTemplatesWords } from '../../templates/words.ts'
import { useDashboardWords } from '../../words.ts'
import { useHealthWords } from '../health/words.ts'
import { SettingsPage } from '../settings-page.tsx'
import { useTrustWords } from '../trust/words.ts'
import { ImportSigningDialog } from './import-signing.tsx'
import { NewSigningKeyDialog } from './new-signing-key.tsx'
import { type Note, Notes } from './notes.tsx'
import { Registrations } from './registration.tsx'
import { useInstallationWords, usePapersWords } from './words.ts'

export function InstallationSettings() {
  const { nav } = useDashboardWords()
  const installation = useData<Installation>('installation')
  const signing = useData<InstallationSigning>('signing')
  const shops = useData<{ data: Signing[] }>('signing/tenants')
  return (
    <SettingsPage title={nav['settings/installation']}>
      <Loaded data={signing}>
        {value => (
          <SigningCard
            signing={value}
            shops={shops.value?.data ?? []}
            data={signing}
            onShops={shops.reload}
            isLive={installation.value?.has_live_keys ?? false}
          />
        )}
      </Loaded>
      {signing.value && <Readers readers={signing.value.readers} />}
      <Registrations />
      <Loaded data={installation}>{value => <InstallationCard installation={value} />}</Loaded>
    </SettingsPage>
  )
}

type SigningProps = {
  signing: InstallationSigning
  shops: readonly Signing[]
  data: Data<InstallationSigning>
  onShops: () => void
  /** Real customers are asked: a missing certificate is a problem then. */
  isLive: boolean
}

function SigningCard({ signing, shops, data, onShops, isLive }: SigningProps) {
  const words = useInstallationWords()
  const papers = usePapersWords()
  const { call } = useSession()
  const [csr, setCsr] = useState<string>()
  const [isImporting, setIsImporting] = useState(false)
  const [isMaking, setIsMaking] = useState(false)
  const [notes, setNotes] = useState<readonly Note[]>([])
  const makeCsr = useAction(async () => setCsr((await call<{ csr: string }>('signing/csr')).csr))
  const { client_id, subject, issuer, is_self_made, chain, authority } = signing
  return (
    <Card title={words.signing}>
      <p class="secondary">{words.signingMore}</p>
      {is_self_made && <Notice tone={isLive ? 'wait' : 'neutral'}>{words.selfMade}</Notice>}
      <Notes notes={notes} />
      <Plans signing={signing} onChange={data.reload} />
      <Facts
        facts={[
          [words.signedFor, subject],
          [words.signedBy, issuer],
          [words.ends, <Ends key="ends" of={signing} />],
          [words.clientId, <code key="id">{client_id}</code>],
        ]}
      />
      <ol class="plain-list numbered">
        <li>
          <div class="stack tight">
            <p>{words.stepRequest}</p>
            <div>
              <Button busy={makeCsr.isBusy} onClick={() => makeCsr.run()}>
                {words.csrDo}
              </Button>
            </div>
            <Problem of={makeCsr.problem} />
            {csr && <Copy text={csr.trim()} label={words.csrName} />}
          </div>
        </li>
        <li>{words.stepSend}</li>
        <li>
          <div class="stack tight">
            <p>{words.stepInstall}</p>
            <div>
              <Button onClick={() => setIsImporting(true)}>{words.importDo}</Button>
            </div>
          </div>
        </li>
      </ol>
      <ShopCertificates shops={shops} onChange={onShops} />
      <details class="folded">
        <summary>{words.more}</summary>
        <div class="stack">
          <div>
            <Button onClick={() => setIsMaking(true)}>{papers.newKey}</Button>
          </div>
          <Text title={words.chain} text={chain} name={words.chainName} />
          {authority && <Text title={words.authority} text={authority} name={words.authorityName} more={words.authorityMore} />}
        </div>
      </details>
      {isMaking && (
        <NewSigningKeyDialog
          onClose={() => setIsMaking(false)}
          onMade={() => {
            data.reload()
            onShops()
          }}
        />
      )}
      {isImporting && (
        <ImportSigningDialog
          onClose={() => setIsImporting(false)}
          onImported={({ notes: said }) => {
            data.reload()
            onShops()
            setNotes(said)
            setCsr(undefined)
            setIsImporting(false)
          }}
        />
      )}
    </Card>
  )
}

/** The last day of a certificate, loud before it comes. */
function Ends({ of: { not_after, days_left, expires_soon } }: { of: Pick<Signing, 'not_after' | 'days_left' | 'expires_soon'> }) {
  const { daysLeft } = useInstallationWords()
  const { expired } = useTrustWords()
  const { date } = useFormat()
  return (
    <>
      {date(not_after)}{' '}
      <Badge tone={expires_soon ? 'no' : 'neutral'} icon={expires_soon ? 'warning' : undefined}>
        {days_left < 0 ? expired : daysLeft(days_left)}
      </Badge>
    </>
  )
}

/** Wallets of iPhones ask for a certificate of this kind. */
function Readers({ readers }: { readers: readonly ReaderCertificate[] }) {
  const words = useInstallationWords()
  const papers = usePapersWords()
  const shopName = useShopName()
  if (readers.length === 0) return null
  return (
    <Card title={papers.readers}>
      <p class="secondary">{papers.readersMore}</p>
      <div class="papers">
        {readers.map(reader => (
          <Facts
            key={reader.fingerprint}
            facts={[
              [papers.shop, reader.tenant === null ? papers.allShops : shopName(reader.tenant)],
              [words.signedFor, reader.subject],
              [words.signedBy, reader.issuer],
              [words.ends, <Ends key="ends" of={reader} />],
            ]}
          />
        ))}
      </div>
      {readers.some(({ expires_soon }) => expires_soon) && (
        <Notice tone="wait">
          {papers.readersEnd} <code>vidimus signing import --reader --chain CHAIN.pem</code>
        </Notice>
      )}
    </Card>
  )
}

function useShopName(): (tenant: string | null) => string {
  const { session } = useSession()
  return tenant => session.tenants.find(({ id }) => id === tenant)?.name ?? tenant ?? ''
}

/** The certificate that takes over, and a key that waits for one. */
function Plans({ signing: { tenant, next, pending_since }, onChange }: { signing: Signing; onChange: () => void }) {
  const papers = usePapersWords()
  const { date } = useFormat()
  const { call } = useSession()
  const cancel = async () => {
    await call('signing/next', { method: 'DELETE', body: tenant === null ? {} : { tenant } })
    onChange()
  }
  return (
    <>
      {next && (
        <Notice>
          <div class="stack tight">
            <p>{papers.next(date(next.starts_at), next.subject, date(next.not_after))}</p>
            <ConfirmButton label={papers.cancel} title={papers.cancelTitle} verb={papers.cancelDo} onConfirm={cancel}>
              {papers.cancelMore}
            </ConfirmButton>
          </div>
        </Notice>
      )}
      {pending_since && <p class="hint">{papers.pending(date(pending_since))}</p>}
    </>
  )
}

/** Shops with a certificate of their own, or on the way to one. */
function ShopCertificates({ shops, onChange }: { shops: readonly Signing[]; onChange: () => void }) {
  const papers = usePapersWords()
  if (shops.length === 0) return null
  return (
    <div class="stack tight">
      <h3>{papers.shopCertificates}</h3>
      {shops.map(shop => (
        <ShopCertificate key={shop.tenant} {...{ shop, onChange }} />
      ))}
    </div>
  )
}

function ShopCertificate({ shop, onChange }: { shop: Signing; onChange: () => void }) {
  const words = useInstallationWords()
  const papers = usePapersWords()
  const { call } = useSession()
  const { tenant, is_own, subject } = shop
  const name = useShopName()(tenant)
  const remove = async () => {
    await call('signing', { method: 'DELETE', body: { tenant } })
    onChange()
  }
  return (
    <div class="stack tight">
      <Facts
        facts={[
          [papers.shop, name],
          [words.signedFor, is_own ? subject : papers.notYetOwn],
          [words.ends, is_own && <Ends key="ends" of={shop} />],
        ]}
      />
      <Plans signing={shop} onChange={onChange} />
      <div>
        <ConfirmButton
          kind="danger"
          label={papers.removeOwn(name)}
          title={papers.removeOwnTitle(name)}
          verb={papers.removeDo}
          onConfirm={remove}
        >
          {papers.removeOwnMore}
        </ConfirmButton>
      </div>
    </div>
  )
}

function Text({ title, text, name, more }: { title: string; text: string; name: string; more?: string }) {
  return (
    <div class="stack tight">
      <h3>{title}</h3>
      {more && <p class="hint">{more}</p>}
      <Copy text={text.trim()} label={name} />
    </div>
  )
}

function InstallationCard({ installation }: { installation: Installation }) {
  const words = useInstallationWords()
  const health = useHealthWords()
  const { profiles } = useTemplatesWords()
  const { none, yes, no } = useDashboardWords()
  const { duration } = useFormat()
  const { address, has_live_keys } = installation
  const { version, public_url, wallet_profile, wallet_scheme, client_id_prefix, egress_allow, webhook_delays_ms } = installation
  return (
    <Card title={words.installation}>
      <p class="secondary">{words.installationMore}</p>
      <Facts
        facts={[
          [words.version, version],
          [
            words.publicUrl,
            <span key="url">
              <code>{public_url}</code>{' '}
              {address !== 'secure' && (
                <Badge tone={address === 'plain' && has_live_keys ? 'no' : 'neutral'} icon="dash">
                  {address === 'local' ? health.statuses.not_set_up : words.plainHttp}
                </Badge>
              )}
            </span>,
          ],
        ]}
      />
      <details class="folded">
        <summary>{words.details}</summary>
        <Facts
          facts={[
            [words.walletProfile, profiles[wallet_profile]],
            [words.walletScheme, <code key="scheme">{wallet_scheme}</code>],
            [words.clientIdPrefix, <code key="prefix">{client_id_prefix}</code>],
            [words.registration, installation.has_registration_certificate ? yes : no],
            [words.egress, egress_allow.join(', ') || none],
            [words.delays, webhook_delays_ms.map(duration).join(', ')],
          ]}
        />
      </details>
    </Card>
  )
}
