import { useState } from 'preact/hooks'
import type { BuiltQuery, Catalogue, Choice } from '../../../dashboard/templates/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Check, Field } from '../../kit/field.tsx'
import { Notice } from '../../kit/notice.tsx'
import { useClaimWords } from '../../shared/claims.ts'
import { useClaimName } from '../verifications/claim-list.tsx'
import { useEditorWords } from './words.ts'

const AGES = [16, 18, 21, 65]
const AGE_MAX = 120

type Props = {
  catalogue: Catalogue
  choice: Choice
  leftOut: BuiltQuery['left_out']
  onChange: (choice: Choice) => void
}

/** Documents to accept and claims to ask them for. */
export function TemplateBuilder({ catalogue, choice, leftOut, onChange }: Props) {
  const words = useEditorWords()
  const name = useClaimName()
  const title = useDocumentTitle()
  const chosen = catalogue.documents.filter(({ key }) => choice.documents.includes(key))
  const offered = new Set(chosen.flatMap(({ claims }) => claims))
  const toggle = <Value extends string>(values: readonly Value[], value: Value, isOn: boolean): Value[] =>
    isOn ? [...values, value] : values.filter(each => each !== value)
  return (
    <>
      <fieldset class="choices">
        <legend>{words.documents}</legend>
        <p class="hint">{words.documentsHint}</p>
        <div class="ticks">
          {catalogue.documents.map(document => (
            <Check
              key={document.key}
              label={title(document)}
              isChecked={choice.documents.includes(document.key)}
              onCheck={isOn => onChange({ ...choice, documents: toggle(choice.documents, document.key, isOn) })}
            />
          ))}
        </div>
      </fieldset>
      <fieldset class="choices">
        <legend>{words.claims}</legend>
        <p class="hint">{words.claimsHint}</p>
        {chosen.length === 0 && <p class="secondary">{words.documentsFirst}</p>}
        {chosen.some(({ ages }) => ages) && <Ages claims={choice.claims} onChange={claims => onChange({ ...choice, claims })} />}
        <div class="ticks">
          {/* Claims that the chosen documents lack stay, so that they can be removed. */}
          {[...new Set([...offered, ...choice.claims.filter(claim => ageOf(claim) === undefined)])].map(claim => (
            <Check
              key={claim}
              label={name(claim)}
              isChecked={choice.claims.includes(claim)}
              onCheck={isOn => onChange({ ...choice, claims: toggle(choice.claims, claim, isOn) })}
            />
          ))}
        </div>
      </fieldset>
      {leftOut.map(({ document, claims }) => (
        <Notice key={document} tone="wait">
          {words.leftOut(title(catalogue.documents.find(({ key }) => key === document)), claims.map(name).join(', '))}
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

const ageOf = (claim: string): number | undefined => {
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
