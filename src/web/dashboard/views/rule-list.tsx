import type { Template } from '../../../dashboard/settings-schema.ts'
import { useDashboardWords } from '../words.ts'

type Rules = Template['effective_rules']

/** The conditions that decide between completed and failed. */
export function RuleList({ rules }: { rules: Rules }) {
  const words = useDashboardWords().templates
  const condition = (rule: Rules[number]): string => {
    if ('is' in rule) return words.ruleIs(rule.is)
    return 'one_of' in rule ? words.ruleOneOf(rule.one_of.join(', ')) : words.ruleAge(rule.age_at_least)
  }
  if (rules.length === 0) return <p>{words.noRules}</p>
  return (
    <>
      <p>{words.rulesLead}</p>
      <ul class="plain-list">
        {rules.map(rule => (
          <li key={JSON.stringify(rule)}>
            <code>{rule.claim}</code> {condition(rule)}
          </li>
        ))}
      </ul>
    </>
  )
}
