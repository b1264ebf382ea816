import { useEffect, useRef } from 'preact/hooks'
import { PERSONAS, type Persona, type PersonaId } from '../../sandbox/personas.ts'
import { useLanguage } from '../shared/language.ts'
import { useSandboxWords } from './words.ts'

type Props = { chosen: PersonaId; onChoose: (persona: PersonaId) => void }

/** Outside the phone: no real wallet has such a choice. */
export function Personas({ chosen, onChoose }: Props) {
  const words = useSandboxWords()
  return (
    <fieldset class="personas">
      <legend>
        <h2>{words.personas}</h2>
      </legend>
      <p class="hint">{words.expectsFor}</p>
      <div class="choices line tight">
        {Object.values(PERSONAS).map(persona => (
          <Choice key={persona.id} persona={persona} isChosen={persona.id === chosen} onChoose={onChoose} />
        ))}
      </div>
      <p class="explained small">
        <Explained persona={PERSONAS[chosen]} />
      </p>
    </fieldset>
  )
}

type ChoiceProps = { persona: Persona; isChosen: boolean; onChoose: Props['onChoose'] }

function Choice({ persona, isChosen, onChoose }: ChoiceProps) {
  const language = useLanguage()
  const id = `persona-${persona.id}`
  const label = useRef<HTMLLabelElement>(null)
  useEffect(() => {
    // Personas form a row that scrolls on a phone.
    if (isChosen) label.current?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [isChosen])
  return (
    <label ref={label} class={`persona${isChosen ? ' chosen' : ''}`} for={id}>
      <input
        type="radio"
        id={id}
        name="persona"
        value={persona.id}
        checked={isChosen}
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-more`}
        onChange={() => onChoose(persona.id)}
      />
      <span class="persona-title" id={`${id}-title`}>
        {persona.title[language]}
      </span>
      <span class="persona-more small" id={`${id}-more`}>
        <Explained persona={persona} />
      </span>
    </label>
  )
}

function Explained({ persona: { explanation, expects } }: { persona: Persona }) {
  const words = useSandboxWords()
  return (
    <>
      {explanation[useLanguage()]} <span class="expects breaks">{words.expects(expects)}</span>
    </>
  )
}
