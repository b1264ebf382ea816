import { useState } from 'preact/hooks'
import type { Security, WithRecoveryCodes } from '../../../../people/security-schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Icon } from '../../../kit/icons.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { Table } from '../../../kit/table.tsx'
import { Time } from '../../../shared/time.tsx'
import { useAction } from '../../action.ts'
import { canUsePasskeys } from '../../entrance/passkey.ts'
import { Confirm, ConfirmButton } from '../../parts/confirm.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { AddCodes, AddPasskey, RecoveryDialog } from './add-factor.tsx'
import { useSecurityWords } from './words.ts'

type Props = { security: Security; onChange: (security: Security) => void; onAdded?: () => void }

/** The user's own second factors. */
export function Factors({ security, onChange, onAdded = () => {} }: Props) {
  const words = useSecurityWords()
  const [adding, setAdding] = useState<'passkey' | 'codes'>()
  const close = () => {
    setAdding(undefined)
    if (security.codes_since !== null || security.passkeys.length > 0) onAdded()
  }
  return (
    <Card title={words.factors}>
      <p class="secondary">{words.factorsMore}</p>
      <Passkeys security={security} onChange={onChange} onAdd={() => setAdding('passkey')} />
      <Codes security={security} onChange={onChange} onAdd={() => setAdding('codes')} />
      {(security.codes_since !== null || security.passkeys.length > 0) && <Recovery security={security} onChange={onChange} />}
      {adding === 'passkey' && <AddPasskey onAdded={onChange} onClose={close} />}
      {adding === 'codes' && <AddCodes onAdded={onChange} onClose={close} />}
    </Card>
  )
}

type PartProps = Omit<Props, 'onAdded'> & { onAdd: () => void }

function Passkeys({ security, onChange, onAdd }: PartProps) {
  const words = useSecurityWords()
  const { actions, never } = useDashboardWords()
  const { call } = useSession()
  const [removed, setRemoved] = useState<Security['passkeys'][number]>()
  return (
    <section class="stack tight">
      <h3>{words.passkeys}</h3>
      <p class="hint">{words.passkeysMore}</p>
      {security.passkeys.length > 0 && (
        <Table
          caption={words.passkeys}
          columns={[
            { title: words.label, kind: 'wraps', cell: ({ label }, folded) => [<strong key="label">{label}</strong>, folded] },
            { title: words.added, folds: 'tablet', below: 'titled', cell: each => <Time at={each.created_at} /> },
            {
              title: words.lastUsed,
              folds: 'phone',
              below: 'titled',
              cell: each => (each.last_used_at ? <Time at={each.last_used_at} /> : never),
            },
          ]}
          rows={security.passkeys}
          keyOf={({ id }) => id}
          actions={{
            title: actions,
            label: ({ label }, verb) => `${verb}: ${label}`,
            of: each => [{ verb: words.remove, isDangerous: true, act: () => setRemoved(each) }],
          }}
        />
      )}
      {canUsePasskeys(security.passkey_origin) ? (
        <div>
          <Button onClick={onAdd}>
            <Icon name="plus" />
            {words.addPasskey}
          </Button>
        </div>
      ) : (
        <Notice tone="wait">
          {security.passkey_origin === null ? words.noPasskeys : words.passkeysAt(security.passkey_origin)}
        </Notice>
      )}
      {removed && (
        <Confirm
          title={words.removePasskey(removed.label)}
          verb={words.remove}
          onClose={() => setRemoved(undefined)}
          onConfirm={async () => {
            onChange(await call<Security>(`security/passkeys/${removed.id}`, { method: 'DELETE' }))
            setRemoved(undefined)
          }}
        >
          {words.removePasskeyMore}
        </Confirm>
      )}
    </section>
  )
}

function Codes({ security, onChange, onAdd }: PartProps) {
  const words = useSecurityWords()
  const { call } = useSession()
  return (
    <section class="stack tight">
      <h3>{words.codes}</h3>
      <p class="hint">{words.codesMore}</p>
      {security.codes_since === null ? (
        <div>
          <Button onClick={onAdd}>
            <Icon name="plus" />
            {words.addCodes}
          </Button>
        </div>
      ) : (
        <div class="row">
          <span>
            <Badge tone="ok">{words.inUse}</Badge> {words.since} <Time at={security.codes_since} />
          </span>
          <ConfirmButton
            kind="danger"
            label={words.remove}
            title={words.removeCodes}
            verb={words.removeCodesDo}
            onConfirm={async () => onChange(await call<Security>('security/codes', { method: 'DELETE' }))}
          >
            {words.removePasskeyMore}
          </ConfirmButton>
        </div>
      )}
    </section>
  )
}

function Recovery({ security, onChange }: Omit<Props, 'onAdded'>) {
  const words = useSecurityWords()
  const { call } = useSession()
  const [codes, setCodes] = useState<readonly string[]>()
  const renew = useAction(async () => {
    const made = await call<WithRecoveryCodes>('security/recovery-codes', { method: 'POST' })
    onChange(made.security)
    setCodes(made.recovery_codes ?? undefined)
  })
  return (
    <section class="stack tight">
      <h3>{words.recovery}</h3>
      <p class="hint">{words.recoveryMore}</p>
      <div class="row">
        <Badge tone={security.recovery_codes_left > 2 ? 'ok' : 'wait'}>{words.recoveryLeft(security.recovery_codes_left)}</Badge>
        <Button busy={renew.isBusy} onClick={() => renew.run()}>
          {words.recoveryRenew}
        </Button>
      </div>
      <Problem of={renew.problem} />
      {codes && <RecoveryDialog codes={codes} onClose={() => setCodes(undefined)} />}
    </section>
  )
}
