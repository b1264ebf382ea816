import { useState } from 'preact/hooks'
import type { Device } from '../../../devices/schema.ts'
import { Badge } from '../../shared/badge.tsx'
import { Button } from '../../shared/button.tsx'
import { Empty } from '../../shared/empty.tsx'
import { Icon } from '../../shared/icons.tsx'
import { Table } from '../../shared/table.tsx'
import { Time, useNow } from '../../shared/time.tsx'
import { Confirm } from '../confirm.tsx'
import { useData } from '../data.ts'
import { Loaded } from '../loaded.tsx'
import { Page } from '../page.tsx'
import { curlLine } from '../service-line.ts'
import { usePlace, useSession } from '../session.tsx'
import { useTemplates, useTemplateTitle } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { useEnded } from './ended.tsx'
import { RegisterDeviceDialog } from './register-device.tsx'

const TONES = { pending: 'wait', active: 'ok', revoked: 'neutral' } as const

export function Devices() {
  const words = useDashboardWords().devices
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const data = useData<{ data: Device[] }>(inTenant(`devices?environment=${environment}`))
  const [isRegistering, setIsRegistering] = useState(false)
  const [revoked, setRevoked] = useState<Device>()
  const close = () => {
    setIsRegistering(false)
    setRevoked(undefined)
    data.reload()
  }
  const register = (
    <Button kind="primary" onClick={() => setIsRegistering(true)}>
      <Icon name="plus" />
      {words.register}
    </Button>
  )
  const isEmpty = data.value?.data.length === 0
  return (
    <Page title={words.title} intro={words.intro} actions={!isEmpty && register}>
      <Loaded data={data}>
        {({ data: devices }) =>
          isEmpty ? (
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
          ) : (
            <DeviceList devices={devices} onRevoke={setRevoked} />
          )
        }
      </Loaded>
      {isRegistering && <RegisterDeviceDialog onClose={close} />}
      {revoked && (
        <Confirm
          title={words.revokeTitle(revoked.name)}
          name={revoked.name}
          verb={words.revokeDo}
          onClose={close}
          onConfirm={() => call(inTenant(`devices/${revoked.id}?environment=${environment}`), { method: 'DELETE' }).then(close)}
        >
          {words.revokeMore}
        </Confirm>
      )}
    </Page>
  )
}

function DeviceList({ devices, onRevoke }: { devices: readonly Device[]; onRevoke: (device: Device) => void }) {
  const words = useDashboardWords().devices
  const { keys, never } = useDashboardWords()
  const title = useTemplateTitle(useTemplates())
  const { rows, toggle } = useEnded(devices, ({ status }) => status === 'revoked', {
    show: words.ended,
    hide: words.hideEnded,
  })
  return (
    <>
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
            cell: ({ allowed_templates }) => allowed_templates.map(title).join(', '),
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
        actions={{
          title: keys.actions,
          of: device => [
            device.status !== 'revoked' && {
              verb: words.revoke,
              label: `${words.revoke}: ${device.name}`,
              isDangerous: true,
              act: () => onRevoke(device),
            },
          ],
        }}
      />
      {toggle}
    </>
  )
}

function DeviceBadge({ device: { status, pairing_expires_at } }: { device: Device }) {
  const words = useDashboardWords().devices
  const now = useNow()
  if (status === 'pending' && pairing_expires_at && Date.parse(pairing_expires_at) <= now)
    return <Badge tone="neutral">{words.lapsed}</Badge>
  return <Badge tone={TONES[status]}>{words.statuses[status]}</Badge>
}
