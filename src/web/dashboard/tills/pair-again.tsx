import { useState } from 'preact/hooks'
import type { PairableDevice } from '../../../dashboard/tills/schema.ts'
import type { Device } from '../../../devices/schema.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { usePlace, useSession } from '../session.tsx'
import { PairDevice } from './pair-device.tsx'
import { useDevicesWords } from './words.ts'

/** A new code for a known device, after a warning: the device stops until it is paired again. */
export function PairAgainDialog({ device, onClose }: { device: Device; onClose: () => void }) {
  const words = useDevicesWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const [registered, setRegistered] = useState<PairableDevice>()
  const path = inTenant(`devices/${device.id}/pairing?environment=${environment}`)
  return (
    <FormDialog
      title={registered ? words.pairTitle(device.name) : words.pairAgainTitle(device.name)}
      verb={words.pairAgainDo}
      onSubmit={async () => setRegistered(await call<PairableDevice>(path, { method: 'POST', body: {} }))}
      onClose={onClose}
      result={registered && <PairDevice registered={registered} onClose={onClose} />}
    >
      <p>{device.status === 'active' ? words.pairAgainMore : words.pairAgainPending}</p>
    </FormDialog>
  )
}
