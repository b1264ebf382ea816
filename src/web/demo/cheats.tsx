import { Icon } from '../kit/icons.tsx'
import { Seal } from '../kit/seal.tsx'
import { useOutcome } from '../shared/outcome.ts'
import { CHEATS, type Cheat, type Story } from './story.ts'
import { useDemoWords } from './words.ts'

/** Attempts to cheat, and why each fails. */
export function Cheats({ story }: { story: Story }) {
  const words = useDemoWords()
  const { step } = story
  return (
    <section class="grid tight" aria-label={words.cheat}>
      <h2>{words.cheat}</h2>
      <ul class={`cheats grid tight${step === 'cheat' ? ' glowing' : ''}`}>
        {CHEATS.map(cheat => (
          <li key={cheat}>
            <Attempt cheat={cheat} story={story} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Attempt({ cheat, story: { step, caught, cheating, cheat: attempt } }: { cheat: Cheat; story: Story }) {
  const words = useDemoWords()
  const code = caught[cheat]
  const isBusy = cheating === cheat
  return (
    <button
      type="button"
      class={`cheat stack dense${code ? ' caught' : ''}`}
      aria-disabled={step === 'begin' || cheating !== undefined}
      onClick={() => step !== 'begin' && cheating === undefined && attempt(cheat)}
    >
      <strong class="line start">
        {isBusy ? <Seal state="busy" size={18} /> : <Icon name={code ? 'cross' : 'next'} size={18} />}
        {words.cheats[cheat]}
      </strong>
      {code && <Caught code={code} />}
    </button>
  )
}

function Caught({ code }: { code: string }) {
  const { sentence } = useOutcome(code)
  return (
    <span class="why">
      {sentence} <code>{code}</code>
    </span>
  )
}
