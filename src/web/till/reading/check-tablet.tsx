import { useEffect, useState } from 'preact/hooks'
import type { Till } from '../../../devices/schema.ts'
import { canAsk } from '../../../sdk/wallet-call.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Icon } from '../../kit/icons.tsx'
import { findCamera, hasDetector } from '../../kit/scan.tsx'
import { callTill } from '../tokens.ts'
import { bluetooth } from './bluetooth.ts'
import { useReadingWords } from './words.ts'

const CLOCK_MS_MAX = 60_000

/** Everything that a till needs for the ways that are more than a code. */
const CHECKS = {
  https: async () => isSecureContext,
  camera: findCamera,
  detector: hasDetector,
  bluetooth: async () => bluetooth !== undefined,
  switched_on: async () => (await bluetooth?.getAvailability()) ?? false,
  wallet: async () => canAsk(),
  clock: async () => {
    const { now } = await callTill<Till>('till/data')
    return Math.abs(Date.parse(now) - Date.now()) < CLOCK_MS_MAX
  },
} as const
type CheckName = keyof typeof CHECKS

/** What this tablet has and lacks, in words for the staff. */
export function CheckTablet() {
  const words = useReadingWords()
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button kind="quiet" large onClick={() => setIsOpen(true)}>
        {words.check}
      </Button>
      {isOpen && (
        <Dialog title={words.check} onClose={() => setIsOpen(false)}>
          <div class="stack">
            <p class="secondary">{words.checkMore}</p>
            <ul class="tablet grid">
              {(Object.keys(CHECKS) as CheckName[]).map(name => (
                <Checked key={name} name={name} />
              ))}
            </ul>
          </div>
        </Dialog>
      )}
    </>
  )
}

function Checked({ name }: { name: CheckName }) {
  const words = useReadingWords()
  const [isGood, setIsGood] = useState<boolean>()
  useEffect(() => void CHECKS[name]().then(setIsGood, () => setIsGood(false)), [])
  if (isGood === undefined) return null
  const [title, remedy] = words.tablet[name]
  return (
    <li class={`line tight ${isGood ? 'pass' : 'fail'}`}>
      <Icon name={isGood ? 'tick' : 'dash'} />
      <div>
        <span class="only-heard">{isGood ? words.good : words.missing}</span> {title}
        {!isGood && <p class="small secondary">{remedy}</p>}
      </div>
    </li>
  )
}
