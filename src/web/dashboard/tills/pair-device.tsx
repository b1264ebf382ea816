import { useState } from 'preact/hooks'
import type { PairableDevice } from '../../../dashboard/tills/schema.ts'
import type { Device } from '../../../devices/schema.ts'
import { Button, LinkButton } from '../../kit/button.tsx'
import { Copy } from '../../kit/copy.tsx'
import { Notice } from '../../kit/notice.tsx'
import { LeadsHere, QrCode } from '../../kit/qr.tsx'
import { Seal } from '../../kit/seal.tsx'
import { useCommon } from '../../shared/language.ts'
import { useNow } from '../../shared/time.tsx'
import { useData, useEvery } from '../data.ts'
import { useFormat } from '../format.ts'
import { usePlace } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { useDevicesWords } from './words.ts'

const LOOK_MS = 2000
const CODE_MS = 900_000

type Props = { registered: PairableDevice; onClose: () => void }

/** The pairing code until the device has used it. */
export function PairDevice({ registered: { device, pairing_code, pairing_url }, onClose }: Props) {
  const words = useDevicesWords()
  const { done } = useDashboardWords()
  const common = useCommon()
  const { environment, inTenant } = usePlace()
  const devices = useData<{ data: Device[] }>(inTenant(`devices?environment=${environment}`))
  const status = devices.value?.data.find(({ id }) => id === device.id)?.status ?? 'pending'
  const leftMs = useLeft()
  const isWaiting = status === 'pending' && leftMs > 0
  useEvery(LOOK_MS, isWaiting, devices.reload)
  if (status === 'active') {
    return (
      <div class="stack centred paired" role="status">
        <Seal state="verified" size={96} />
        <p class="sentence">{words.paired}</p>
        <Button kind="primary" onClick={onClose}>
          {done}
        </Button>
      </div>
    )
  }
  return (
    <div class="stack">
      <p class="secondary">{words.pairMore}</p>
      <div class="pairing grid">
        <QrCode text={pairing_url} label={words.qrLabel} />
        <div class="stack">
          <p>
            <span class="hint">{words.code}</span>
            <br />
            <code class="pairing-code">{pairing_code}</code>
          </p>
          {isWaiting ? <Remaining leftMs={leftMs} /> : <Notice tone="wait">{words.codeEnded}</Notice>}
        </div>
      </div>
      <LeadsHere link={pairing_url} />
      <Copy text={pairing_url} label={words.link} />
      <p class="hint">{common.shownOnce}</p>
      <div class="row end">
        <LinkButton href={pairing_url} target="_blank" rel="noopener">
          {words.openTill}
        </LinkButton>
        <Button kind="primary" onClick={onClose}>
          {done}
        </Button>
      </div>
    </div>
  )
}

function Remaining({ leftMs }: { leftMs: number }) {
  const words = useDevicesWords()
  const { duration } = useFormat()
  return (
    <div>
      <p class="remaining line tight middle" role="status">
        <Seal state="busy" size={20} />
        {words.waiting}
      </p>
      <p class="hint">
        {words.codeUntil(leftMs > 60_000 ? `${Math.ceil(leftMs / 60_000)} min` : duration(leftMs - (leftMs % 1000)))}
      </p>
    </div>
  )
}

/** The default of the service, counted from the arrival of the response: this clock may differ from the server's. */
function useLeft(): number {
  const [cameAt] = useState(Date.now)
  return Math.max(0, CODE_MS - (useNow(1000) - cameAt))
}
