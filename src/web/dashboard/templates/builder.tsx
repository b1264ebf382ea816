import { useState } from 'preact/hooks'
import type { BuiltQuery, Catalogue, Choice, Step } from '../../../dashboard/templates/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Check, Field } from '../../kit/field.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Notice } from '../../kit/notice.tsx'
import { useClaimWords } from '../../shared/claims.ts'
import { Fold } from '../parts/fold.tsx'
import { FormatSelect } from '../parts/format-choice.tsx'
import { useClaimName } from '../verifications/claim-list.tsx'
import { useDashboardWords } from '../words.ts'
import { useEditorWords } from './words.ts'

/** Those that most documents state. */
export const AGES = [16, 18, 21, 65]
const AGE_MAX = 120

/** The claims that shops ask for; the others are folded away. */
const USUAL = ['given_name', 'family_name', 'birthdate', 'address.formatted', 'picture']
const STEPS_MAX = 5

type Props = {
  catalogue: Catalogue
  choice: Choice
  leftOut: BuiltQuery['left_out']
  onChange: (choice: Choice) => void
}

/** First these documents, else those, and the claims to ask them for. */
export function TemplateBuilder({ catalogue, choice: { steps }, leftOut, onChange }: Props) {
  const words = useEditorWords()
  const change = (next: Step[]) => onChange({ steps: next })
  const addStep = () => change([...steps, { documents: [], claims: steps.at(-1)?.claims ?? [], format: null }])
  return (
    <>
      {steps.map((step, index) => (
        <div key={index} class={steps.length > 1 ? 'step box stack' : 'stack'}>
          {steps.length > 1 && (
            <div class="line middle between">
              <h2>{index === 0 ? words.first : words.otherwise}</h2>
              <button
                type="button"
                class="icon-button"
                aria-label={words.removeStep(index + 1)}
                onClick={() => change(steps.filter((_, at) => at !== index))}
              >
                <Icon name="trash" />
              </button>
            </div>
          )}
          <StepFields
            catalogue={catalogue}
            step={step}
            leftOut={leftOut.filter(each => each.step === index)}
            onChange={changed => change(steps.map((each, at) => (at === index ? changed : each)))}
          />
        </div>
      ))}
      {steps.length < STEPS_MAX && (
        <div>
          <Button onClick={addStep}>
            <Icon name="plus" />
            {words.addStep}
          </Button>
        </div>
      )}
    </>
  )
}

type StepProps = { catalogue: Catalogue; step: Step; leftOut: BuiltQuery['left_out']; onChange: (step: Step) => void }

function StepFields({ catalogue: { documents }, step, leftOut, onChange }: StepProps) {
  const words = useEditorWords()
  const name = useClaimName()
  const title = useDocumentTitle()
  const { formatOf } = useDashboardWords()
  const chosen = documents.filter(({ key }) => step.documents.includes(key))
  const doubled = chosen.filter(({ formats }) => formats.length > 1)
  // Claims that the chosen documents lack stay, so that they can be removed.
  const offered = new Set([...chosen.flatMap(({ claims }) => claims), ...step.claims.filter(claim => ageOf(claim) === undefined)])
  const others = [...offered].filter(claim => !USUAL.includes(claim))
  const toggle = <Value extends string>(values: readonly Value[], value: Value, isOn: boolean): Value[] =>
    isOn ? [...values, value] : values.filter(each => each !== value)
  const tick = (claim: string) => (
    <Check
      key={claim}
      label={name(claim)}
      isChecked={step.claims.includes(claim)}
      onCheck={isOn => onChange({ ...step, claims: toggle(step.claims, claim, isOn) })}
    />
  )
  return (
    <>
      <fieldset class="choices">
        <legend>{words.documents}</legend>
        <p class="hint">{words.documentsHint}</p>
        <div class="ticks">
          {documents.map(document => (
            <Check
              key={document.key}
              label={title(document)}
              isChecked={step.documents.includes(document.key)}
              onCheck={isOn => onChange({ ...step, documents: toggle(step.documents, document.key, isOn) })}
            />
          ))}
        </div>
      </fieldset>
      <fieldset class="choices">
        <legend>{words.claims}</legend>
        <p class="hint">{words.claimsHint}</p>
        {chosen.length === 0 && <p class="secondary">{words.documentsFirst}</p>}
        {chosen.some(({ ages }) => ages) && <Ages claims={step.claims} onChange={claims => onChange({ ...step, claims })} />}
        <div class="ticks">{USUAL.filter(claim => offered.has(claim)).map(tick)}</div>
        {others.length + doubled.length > 0 && (
          <Fold title={words.more} holds={step.format !== null || others.some(claim => step.claims.includes(claim))}>
            <div class="ticks">{others.map(tick)}</div>
            {doubled.map(document => (
              <FormatSelect
                key={document.key}
                label={formatOf(title(document))}
                format={step.format ?? undefined}
                onChoose={format => onChange({ ...step, format: format ?? null })}
              />
            ))}
          </Fold>
        )}
      </fieldset>
      {leftOut.map(({ document, claims }) => (
        <Notice key={document} tone="wait">
          {words.leftOut(title(documents.find(({ key }) => key === document)), claims.map(name).join(', '))}
        </Notice>
      ))}
    </>
  )
}

/** The name of a document, by the first of its types that has one. */
function useDocumentTitle(): (document: Catalogue['documents'][number] | undefined) => string {
  const { document: title } = useClaimWords()
  return document => title(document?.types[0] ?? '')
}

export const ageOf = (claim: string): number | undefined => {
  const years = /^age_over_(\d{1,3})$/.exec(claim)?.[1]
  return years === undefined ? undefined : Number(years)
}

function Ages({ claims, onChange }: { claims: readonly string[]; onChange: (claims: string[]) => void }) {
  const words = useEditorWords()
  const name = useClaimName()
  const [text, setText] = useState('')
  const ages = [...new Set([...AGES, ...claims.flatMap(claim => ageOf(claim) ?? [])])].sort((a, b) => a - b)
  const age = /^\d{1,3}$/.test(text.trim()) ? Number(text) : 0
  const isAge = age >= 1 && age <= AGE_MAX
  const set = (years: number, isOn: boolean) => {
    const rest = claims.filter(claim => claim !== `age_over_${years}`)
    onChange(isOn ? [...rest, `age_over_${years}`] : rest)
  }
  return (
    <>
      <div class="ticks">
        {ages.map(years => (
          <Check
            key={years}
            label={name(`age_over_${years}`)}
            isChecked={claims.includes(`age_over_${years}`)}
            onCheck={isOn => set(years, isOn)}
          />
        ))}
      </div>
      <div class="age inline-form row">
        <Field
          label={words.otherAge}
          inputMode="numeric"
          autocomplete="off"
          maxLength={3}
          value={text}
          problem={text.trim() !== '' && !isAge && words.ageProblem(AGE_MAX)}
          onText={setText}
        />
        <Button
          disabled={!isAge}
          onClick={() => {
            set(age, true)
            setText('')
          }}
        >
          {words.addAge}
        </Button>
      </div>
    </>
  )
}
