import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { PairingLockList } from '../../../dashboard/tills/schema.ts'
import type { TillDevice as Device } from '../../../devices/schema.ts'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Empty } from '../../kit/empty.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Notice } from '../../kit/notice.tsx'
import { Table } from '../../kit/table.tsx'
import { Time, useNow } from '../../shared/time.tsx'
import { useAction } from '../action.ts'
import { useData } from '../data.ts'
import { Chips } from '../parts/chips.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { useEnded } from '../parts/ended.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { curlLine } from '../parts/service-line.ts'
import { hrefTo } from '../route.tsx'
import { ForEditors, useMayChange, usePlace, useSession } from '../session.tsx'
import { useTemplates, useTemplateTitle } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { DeviceDialog } from './device-dialog.tsx'
import { PairAgainDialog } from './pair-again.tsx'
import { useDevicesWords } from './words.ts'

const TONES = { pending: 'wait', active: 'ok', revoked: 'neutral' } as const

export function Devices() {
  const words = useDevicesWords()
  const { call, session } = useSession()
  const { environment, inTenant } = usePlace()
  const data = useData<{ data: Device[] }>(inTenant(`devices?environment=${environment}`))
  const [open, setOpen] = useState<{ act: 'register' } | { act: 'change' | 'pair' | 'revoke'; device: Device }>()
  const close = () => {
    setOpen(undefined)
    data.reload()
  }
  const register = (
    <ForEditors>
      <Button kind="primary" onClick={() => setOpen({ act: 'register' })}>
        <Icon name="plus" />
        {words.register}
      </Button>
    </ForEditors>
  )
  const isEmpty = data.value?.data.every(isRevoked)
  const empty = (
    <Empty
      title={words.emptyTitle[environment]}
      action={register}
      curl={curlLine({
        path: 'v1/devices',
        key: `vk_${environment}_…`,
        body: { name: 'Till 1', allowed_templates: ['age_over_18'] },
      })}
    >
      {words.empty}
    </Empty>
  )
  return (
    <Page title={words.title} intro={words.intro} actions={!isEmpty && register}>
      {session.user.is_owner && <PairingLocks />}
      <Loaded data={data}>
        {({ data: devices }) => <DeviceList devices={devices} empty={empty} onAct={(act, device) => setOpen({ act, device })} />}
      </Loaded>
      {open?.act === 'register' && <DeviceDialog onClose={close} />}
      {open?.act === 'change' && <DeviceDialog device={open.device} onClose={close} />}
      {open?.act === 'pair' && <PairAgainDialog device={open.device} onClose={close} />}
      {open?.act === 'revoke' && (
        <Confirm
          title={words.revokeTitle(open.device.name)}
          name={open.device.name}
          verb={words.revokeDo}
          onClose={close}
          onConfirm={() =>
            call(inTenant(`devices/${open.device.id}?environment=${environment}`), { method: 'DELETE' }).then(close)
          }
        >
          {words.revokeMore}
        </Confirm>
      )}
    </Page>
  )
}

/** Networks that wrong pairing codes locked out. */
function PairingLocks() {
  const words = useDevicesWords()
  const { call } = useSession()
  const now = useNow()
  const data = useData<PairingLockList>('pairing-locks')
  const lift = useAction((id: string) => call(`pairing-locks/${id}`, { method: 'DELETE' }).finally(data.reload))
  const locks = data.value?.data.filter(({ locked_until }) => Date.parse(locked_until) > now) ?? []
  return (
    <>
      {locks.map(({ id, locked_until }) => (
        <Notice key={id} tone="wait">
          <div class="stack tight">
            <span>{words.locked(`${Math.ceil((Date.parse(locked_until) - now) / 60_000)} min`)}</span>
            <span class="secondary">{words.lockedMore}</span>
            <div>
              <Button busy={lift.isBusy} onClick={() => lift.run(id)}>
                {words.lift}
              </Button>
            </div>
          </div>
        </Notice>
      ))}
      <Problem of={lift.problem} />
    </>
  )
}

const isRevoked = ({ status }: Device): boolean => status === 'revoked'

type ListProps = {
  devices: readonly Device[]
  /** Instead of the list while no till is in use. */
  empty: ComponentChildren
  onAct: (act: 'change' | 'pair' | 'revoke', device: Device) => void
}

function DeviceList({ devices, empty, onAct }: ListProps) {
  const mayChange = useMayChange()
  const words = useDevicesWords()
  const { actions, never } = useDashboardWords()
  const title = useTemplateTitle(useTemplates())
  const { rows, toggle } = useEnded(devices, isRevoked, {
    show: words.ended,
    hide: words.hideEnded,
  })
  return (
    <>
      {devices.every(isRevoked) && empty}
      {rows.length > 0 && (
        <Table
          caption={words.caption}
          columns={[
            {
              title: words.name,
              kind: 'wraps',
              cell: (device, folded) => (
                <>
                  <strong>{device.name}</strong>
                  {folded}
                </>
              ),
            },
            { title: words.status, folds: 'phone', below: 'last', cell: device => <DeviceBadge device={device} /> },
            {
              title: words.templates,
              kind: 'wraps',
              folds: 'tablet',
              below: 'titled',
              cell: ({ allowed_templates: keys }) => (
                <Chips names={keys.map(title)} hrefOf={i => hrefTo(`templates/${encodeURIComponent(keys[i]!)}`)} />
              ),
            },
            {
              title: words.lastSeen,
              folds: 'phone',
              below: 'titled',
              cell: ({ last_seen_at }) => (last_seen_at ? <Time at={last_seen_at} /> : never),
            },
          ]}
          rows={rows}
          keyOf={device => device.id}
          actions={
            mayChange
              ? {
                  title: actions,
                  label: ({ name }, verb) => `${verb}: ${name}`,
                  of: device =>
                    device.status === 'revoked'
                      ? []
                      : [
                          { verb: words.change, act: () => onAct('change', device) },
                          { verb: words.pairAgain, act: () => onAct('pair', device) },
                          { verb: words.revoke, isDangerous: true, act: () => onAct('revoke', device) },
                        ],
                }
              : undefined
          }
        />
      )}
      {toggle}
    </>
  )
}

function DeviceBadge({ device: { status, pairing_expires_at } }: { device: Device }) {
  const words = useDevicesWords()
  const now = useNow()
  if (status === 'pending' && pairing_expires_at && Date.parse(pairing_expires_at) <= now)
    return <Badge tone="neutral">{words.lapsed}</Badge>
  return <Badge tone={TONES[status]}>{words.statuses[status]}</Badge>
}
