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
          onConfirm={async () => {
            await call(inTenant(`devices/${revoked.id}?environment=${environment}`), { method: 'DELETE' })
            close()
          }}
        >
          {words.revokeMore}
        </Confirm>
      )}
    </Page>
  )
}

function DeviceList({ devices, onRevoke }: { devices: readonly Device[]; onRevoke: (device: Device) => void }) {
  const words = useDashboardWords()
  const title = useTemplateTitle(useTemplates())
  const [showsRevoked, setShowsRevoked] = useState(false)
  const revoked = devices.filter(({ status }) => status === 'revoked').length
  const rows = showsRevoked ? devices : devices.filter(({ status }) => status !== 'revoked')
  return (
    <>
      <Table
        caption={words.devices.caption}
        columns={[
          {
            title: words.devices.name,
            kind: 'wraps',
            cell: device => (
              <>
                <strong>{device.name}</strong>
                <Below device={device} templates={device.allowed_templates.map(title).join(', ')} />
              </>
            ),
          },
          {
            title: <span class="minor">{words.devices.status}</span>,
            cell: device => (
              <span class="minor">
                <DeviceBadge device={device} />
              </span>
            ),
          },
          {
            title: <span class="extra">{words.devices.templates}</span>,
            kind: 'wraps',
            cell: ({ allowed_templates }) => <span class="extra">{allowed_templates.map(title).join(', ')}</span>,
          },
          {
            title: <span class="minor">{words.devices.lastSeen}</span>,
            cell: ({ last_seen_at }) => <span class="minor">{last_seen_at ? <Time at={last_seen_at} /> : words.never}</span>,
          },
          {
            title: <span class="only-heard">{words.keys.actions}</span>,
            kind: 'number',
            cell: device =>
              device.status !== 'revoked' && (
                <button
                  type="button"
                  class="row-button danger"
                  aria-label={`${words.devices.revoke}: ${device.name}`}
                  onClick={() => onRevoke(device)}
                >
                  {words.devices.revoke}
                </button>
              ),
          },
        ]}
        rows={rows}
        keyOf={device => device.id}
      />
      {revoked > 0 && (
        <div>
          <Button kind="quiet" onClick={() => setShowsRevoked(!showsRevoked)}>
            {showsRevoked ? words.devices.hideEnded : words.devices.ended(revoked)}
          </Button>
        </div>
      )}
    </>
  )
}

/** What a narrow screen has no columns for. */
function Below({ device, templates }: { device: Device; templates: string }) {
  const words = useDashboardWords()
  return (
    <>
      <span class="below extras">
        {words.devices.templates}: {templates}
      </span>
      <span class="below">
        {words.devices.lastSeen}: {device.last_seen_at ? <Time at={device.last_seen_at} /> : words.never}
      </span>
      <span class="below">
        <DeviceBadge device={device} />
      </span>
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
