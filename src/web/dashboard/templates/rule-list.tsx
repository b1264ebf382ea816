import type { Template } from '../../../dashboard/templates/schema.ts'
import { Notice } from '../../kit/notice.tsx'
import { useTemplatesWords } from './words.ts'

type Rules = Template['rules']

/** The rules of a template, and a warning about requested ages without a rule. */
export function RuleList({ rules, asks }: { rules: Rules; asks: Template['asks'] }) {
  const words = useTemplatesWords()
  const condition = (rule: Rules[number]): string => {
    if ('is' in rule) return words.ruleIs(rule.is)
    return 'one_of' in rule ? words.ruleOneOf(rule.one_of.join(', ')) : words.ruleAge(rule.age_at_least)
  }
  const ages = new Set(asks.flatMap(({ claims }) => claims).filter(name => /^age_over_\d+$/.test(name)))
  const unjudged = [...ages].filter(name => !rules.some(({ claim }) => claim === name))
  return (
    <>
      <p>{rules.length === 0 ? words.noRules : words.rulesLead}</p>
      {rules.length > 0 && (
        <ul class="plain-list">
          {rules.map(rule => (
            <li key={JSON.stringify(rule)}>
              <code>{rule.claim}</code> {condition(rule)}
            </li>
          ))}
        </ul>
      )}
      {unjudged.length > 0 && <Notice tone="wait">{words.unjudged(unjudged.join(', '))}</Notice>}
    </>
  )
}
