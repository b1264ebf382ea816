import { useEffect } from 'preact/hooks'
import type { Till } from '../../devices/schema.ts'
import { Icon, type IconName } from '../kit/icons.tsx'
import { LanguageSwitch } from '../kit/language-switch.tsx'
import { Wordmark } from '../kit/seal.tsx'
import { TestBand } from '../kit/test-band.tsx'
import { keep, useKept } from './memory.ts'
import { play } from './sound.ts'
import { useTillWords } from './words.ts'

/** The name of the till, and the settings of the staff. */
export function Top({ till }: { till: Till | undefined }) {
  const words = useTillWords()
  const hasSound = useKept('hasSound') ?? false
  const isLight = useKept('theme') === 'light'
  useEffect(() => {
    document.documentElement.dataset.theme = isLight ? 'light' : 'dark'
  }, [isLight])
  return (
    <>
      {till?.environment === 'test' && <TestBand />}
      <header class="top">
        {till ? (
          <p class="who clipped">
            <strong>{till.name}</strong> <span class="secondary">{till.tenant}</span>
          </p>
        ) : (
          <Wordmark />
        )}
        <Switch
          icon="sound"
          isCrossed
          label={words.sound}
          isOn={hasSound}
          onChange={isOn => {
            keep('hasSound', isOn || undefined)
            if (isOn) play('yes')
          }}
        />
        <Switch icon="sun" label={words.light} isOn={isLight} onChange={isOn => keep('theme', isOn ? 'light' : undefined)} />
        <LanguageSwitch />
      </header>
    </>
  )
}

type SwitchProps = {
  icon: IconName
  label: string
  isOn: boolean
  /** Crossed out while it is off. */
  isCrossed?: true
  onChange: (isOn: boolean) => void
}

function Switch({ icon, label, isOn, isCrossed, onChange }: SwitchProps) {
  return (
    <button
      type="button"
      class={`icon-button switch${isCrossed ? ' crossed' : ''}`}
      aria-label={label}
      aria-pressed={isOn}
      onClick={() => onChange(!isOn)}
    >
      <Icon name={icon} size={24} />
    </button>
  )
}
