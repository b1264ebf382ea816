// The motif of the product: a ring, drawn while waiting, closed when verified, broken when refused.

const RADIUS = 42
const LENGTH = 2 * Math.PI * RADIUS

/** `open`: nothing there. `answered`: closed, without a judgement. */
export type SealState = 'waiting' | 'busy' | 'verified' | 'answered' | 'refused' | 'expired' | 'open'

type Props = {
  state: SealState
  size?: number
  /** The remaining part of the time while waiting, from 1 to 0. */
  left?: number
  /** A text for screen readers, where none beside it says the same. */
  label?: string
}

export function Seal({ state, size = 96, left = 1, label }: Props) {
  return (
    <svg
      class={`seal ${state}`}
      width={size}
      height={size}
      viewBox="0 0 100 100"
      stroke-width="8"
      {...(label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': true })}
    >
      {SHAPES[state](left)}
    </svg>
  )
}

const OPEN = 'M62 10A42 42 0 1 1 38 10'

const SHAPES: Readonly<Record<SealState, (left: number) => preact.JSX.Element>> = {
  waiting: left => (
    <>
      <circle class="track" cx="50" cy="50" r={RADIUS} />
      <circle
        class="arc"
        cx="50"
        cy="50"
        r={RADIUS}
        transform="rotate(-90 50 50)"
        stroke-dasharray={LENGTH}
        stroke-dashoffset={LENGTH * (1 - Math.min(1, Math.max(0, left)))}
      />
    </>
  ),
  busy: () => (
    <>
      <circle class="track" cx="50" cy="50" r={RADIUS} />
      <circle class="arc" cx="50" cy="50" r={RADIUS} stroke-dasharray={`${LENGTH * 0.28} ${LENGTH}`} />
    </>
  ),
  verified: () => (
    <>
      <circle class="ring" cx="50" cy="50" r={RADIUS} transform="rotate(-90 50 50)" stroke-dasharray={LENGTH} />
      <path d="m32 51 13 14 24-29" />
    </>
  ),
  answered: () => (
    <>
      <circle cx="50" cy="50" r={RADIUS} />
      <path d="M34 50h32" />
    </>
  ),
  refused: () => (
    <>
      <path class="left" d="M42 9.5A42 42 0 0 0 33 88.5" transform="translate(-3 2)" />
      <path class="right" d="M58 90.5A42 42 0 0 0 67 11.5" transform="translate(3 -2)" />
      <path d="m36 36 28 28M64 36 36 64" />
    </>
  ),
  open: () => <path d={OPEN} />,
  expired: () => (
    <>
      <path d={OPEN} />
      <path d="M50 28v24l15 9" />
    </>
  ),
}

/** The closed seal and the name. */
export function Wordmark({ size = 24 }: { size?: number }) {
  return (
    <span class="wordmark">
      <svg width={size} height={size} viewBox="0 0 100 100" class="seal" stroke-width="11" aria-hidden="true">
        <circle cx="50" cy="50" r={RADIUS} />
        <path d="m32 51 13 14 24-29" />
      </svg>
      Vidimus
    </span>
  )
}
