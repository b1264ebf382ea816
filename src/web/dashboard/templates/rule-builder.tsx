import { useEffect, useState } from 'preact/hooks'
import type { Template } from '../../../dashboard/templates/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Check, Field, Select } from '../../kit/field.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Notice } from '../../kit/notice.tsx'
import { useClaimName } from '../verifications/claim-list.tsx'
import { useEditorWords } from './words.ts'

type Rule = Template['rules'][number]
type Kind = 'yes' | 'no' | 'one_of' | 'age_at_least'

const FIRST_AGE = 18
const AGE_MAX = 120

type Props = {
  /** JSON; empty for the default. */
  text: string
  /** The merged claims that a rule can be on. */
  claims: readonly string[]
  /** The rules that hold now: own ones begin with them. */
  effective: readonly Rule[]
  onText: (text: string) => void
}

/** The rules as choices, in step with their JSON. */
export function RuleBuilder({ text, claims, effective, onText }: Props) {
  const words = useEditorWords()
  const rules = readRules(text)
  const mode = text.trim() === '' ? 'default' : rules?.length === 0 ? 'none' : 'own'
  const change = (next: readonly Rule[]) => onText(rulesText(next))
  const choose = {
    default: () => onText(''),
    none: () => change([]),
    own: () => change(effective.length > 0 ? effective : [firstOf(claims)]),
  }
  return (
    <fieldset class="choices stack tight">
      <legend>{words.rules}</legend>
      <div>
        {(['default', 'own', 'none'] as const).map(each => (
          <Check
            key={each}
            group="rules"
            label={words.ruleModes[each].label}
            hint={words.ruleModes[each].hint}
            isChecked={mode === each}
            onCheck={choose[each]}
          />
        ))}
      </div>
      {mode === 'own' && !rules && <Notice tone="neutral">{words.rulesJsonOnly}</Notice>}
      {mode === 'own' && rules && (
        <>
          <ul class="rules grid">
            {rules.map((rule, i) => (
              <RuleRow
                key={i}
                rule={rule}
                number={i + 1}
                claims={claims}
                onChange={changed => change(rules.map((each, at) => (at === i ? changed : each)))}
                onRemove={() => change(rules.filter((_, at) => at !== i))}
              />
            ))}
          </ul>
          <div>
            <Button onClick={() => change([...rules, firstOf(claims)])}>
              <Icon name="plus" />
              {words.addRule}
            </Button>
          </div>
        </>
      )}
    </fieldset>
  )
}

/** Undefined where it is no JSON, or has a value that is no text: then it is edited as JSON. */
function readRules(text: string): Rule[] | undefined {
  try {
    const rules = JSON.parse(text) as Rule[]
    return Array.isArray(rules) && rules.every(isKnown) ? rules : undefined
  } catch {
    return undefined
  }
}

function isKnown(rule: Partial<Record<string, unknown>> | null): boolean {
  if (rule === null || typeof rule !== 'object' || typeof rule.claim !== 'string' || Object.keys(rule).length !== 2) return false
  const { is, one_of: values, age_at_least: age } = rule
  return (
    typeof is === 'boolean' ||
    typeof age === 'number' ||
    (Array.isArray(values) && values.every(each => typeof each === 'string'))
  )
}

/** One rule on each line. */
export const rulesText = (rules: readonly Rule[]): string =>
  rules.length === 0 ? '[]' : `[${rules.map(rule => `\n  ${JSON.stringify(rule)}`).join(',')}\n]`

const firstOf = ([claim = 'family_name']: readonly string[]): Rule => firstRule(claim)

function firstRule(claim: string): Rule {
  if (/^age_over_\d+$/.test(claim)) return { claim, is: true }
  return claim === 'birthdate' ? { claim, age_at_least: FIRST_AGE } : { claim, one_of: [] }
}

function kindOf(rule: Rule): Kind {
  if ('is' in rule) return rule.is ? 'yes' : 'no'
  return 'one_of' in rule ? 'one_of' : 'age_at_least'
}

type RowProps = {
  rule: Rule
  number: number
  claims: readonly string[]
  onChange: (rule: Rule) => void
  onRemove: () => void
}

function RuleRow({ rule, number, claims, onChange, onRemove }: RowProps) {
  const words = useEditorWords()
  const name = useClaimName()
  const { claim } = rule
  const names = claims.includes(claim) ? claims : [...claims, claim]
  const kinds: readonly Kind[] = claim === 'birthdate' ? ['age_at_least', 'one_of'] : ['yes', 'no', 'one_of']
  const chooseKind = (kind: Kind) => {
    if (kind === 'age_at_least') onChange({ claim: 'birthdate', age_at_least: FIRST_AGE })
    else onChange(kind === 'one_of' ? { claim, one_of: [] } : { claim, is: kind === 'yes' })
  }
  return (
    <li class="rule box inline-form row" aria-label={words.ruleNumber(number)}>
      <Select
        label={words.ruleClaim}
        value={claim}
        options={names.map(each => [each, name(each)])}
        onChoose={each => onChange(firstRule(each))}
      />
      <Select
        label={words.ruleKind}
        value={kindOf(rule)}
        options={kinds.map(kind => [kind, words.ruleKinds[kind]])}
        onChoose={chooseKind}
      />
      {'one_of' in rule && <Values values={rule.one_of} onChange={one_of => onChange({ claim, one_of })} />}
      {'age_at_least' in rule && (
        <Years years={rule.age_at_least} onChange={years => onChange({ claim: 'birthdate', age_at_least: years })} />
      )}
      <button type="button" class="icon-button" aria-label={words.removeRule(number)} onClick={onRemove}>
        <Icon name="trash" />
      </button>
    </li>
  )
}

const split = (text: string): string[] =>
  text
    .split(',')
    .map(each => each.trim())
    .filter(each => each !== '')

function Values({ values, onChange }: { values: readonly (string | number | boolean)[]; onChange: (values: string[]) => void }) {
  const words = useEditorWords()
  const [text, setText] = useState(values.join(', '))
  const [isLeft, setIsLeft] = useState(false)
  useEffect(() => {
    // Replaced only if the values changed elsewhere: typed text may end with a comma.
    if (split(text).join() !== values.join()) setText(values.join(', '))
  }, [values])
  return (
    <Field
      label={words.ruleValues}
      placeholder="DE, FR"
      autocomplete="off"
      value={text}
      problem={isLeft && values.length === 0 && words.valuesMissing}
      onBlur={() => setIsLeft(true)}
      onText={typed => {
        setText(typed)
        onChange(split(typed))
      }}
    />
  )
}

function Years({ years, onChange }: { years: number; onChange: (years: number) => void }) {
  const words = useEditorWords()
  const [text, setText] = useState(String(years))
  const typed = /^\d{1,3}$/.test(text.trim()) ? Number(text) : 0
  const isAge = typed >= 1 && typed <= AGE_MAX
  useEffect(() => {
    if (isAge && typed !== years) setText(String(years))
  }, [years])
  return (
    <Field
      label={words.ruleYears}
      inputMode="numeric"
      autocomplete="off"
      maxLength={3}
      value={text}
      problem={!isAge && words.ageProblem(AGE_MAX)}
      onText={next => {
        setText(next)
        // A wrong age is passed on as 0, so that the template cannot be saved.
        onChange(/^\d{1,3}$/.test(next.trim()) ? Number(next) : 0)
      }}
    />
  )
}
