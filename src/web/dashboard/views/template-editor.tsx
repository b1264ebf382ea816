import { useState } from 'preact/hooks'
import type { Template } from '../../../dashboard/settings-schema.ts'
import { Button } from '../../shared/button.tsx'
import { Field, Select, TextArea } from '../../shared/field.tsx'
import { useCommon, useLanguage } from '../../shared/language.tsx'
import { useAction } from '../action.ts'
import { Loaded } from '../loaded.tsx'
import { Page } from '../page.tsx'
import { Problem } from '../problem.tsx'
import { goTo, hrefTo, useRoute } from '../route.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useTemplates } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { ConsentSketch } from './consent-sketch.tsx'
import { Hints } from './hints.tsx'
import { type QueryCheck, useQueryCheck } from './query-check.ts'
import { RuleList } from './rule-list.tsx'

const KEY = /^[a-z0-9_]{1,64}$/
const PROFILES = ['haip', 'plain', 'eu-av'] as const
const FIRST_TEMPLATE = 'age_over_18'
const RULES_EXAMPLE = '[{"claim": "nationalities", "one_of": ["DE", "FR"]}]'

export function TemplateEditor({ templateKey }: { templateKey: string }) {
  const words = useDashboardWords().editor
  const language = useLanguage()
  const templates = useTemplates()
  const { search } = useRoute()
  const known = templates.value?.data.find(({ key, builtin }) => key === templateKey && !builtin)
  const from = templates.value?.data.find(({ key }) => key === (search.get('from') ?? FIRST_TEMPLATE))
  return (
    <Page title={known ? words.editTitle(known.localized.title[language]) : words.newTitle}>
      <Loaded data={templates}>{({ data }) => <Editor key={templateKey} known={known} from={from} all={data} />}</Loaded>
    </Page>
  )
}

type EditorProps = { known: Template | undefined; from: Template | undefined; all: readonly Template[] }

function Editor({ known, from, all }: EditorProps) {
  const words = useDashboardWords()
  const common = useCommon()
  const language = useLanguage()
  const { call } = useSession()
  const { inTenant } = usePlace()
  const [key, setKey] = useState(known?.key ?? '')
  const [title, setTitle] = useState(known?.localized.title[language] ?? '')
  const [profile, setProfile] = useState<NonNullable<Template['profile']> | ''>(known?.profile ?? '')
  const [text, setText] = useState(() => pretty((known ?? from)?.query))
  const [rules, setRules] = useState(() => rulesText(known ?? from))
  const [purpose, setPurpose] = useState((known ?? from)?.localized.purpose?.[language] ?? '')
  const check = useQueryCheck(text, rules)
  const save = useAction(async () => {
    if (check.state !== 'good') return
    const body = {
      title: title.trim(),
      query: check.query,
      rules: check.rules,
      purpose: purpose.trim() || null,
      profile: profile || null,
    }
    await call(inTenant(`templates/${encodeURIComponent(key)}`), { method: 'PUT', body })
    goTo(hrefTo(`templates/${encodeURIComponent(key)}`))
  })
  const start = (template: Template) => {
    setText(pretty(template.query))
    setRules(rulesText(template))
    setPurpose(template.localized.purpose?.[language] ?? '')
  }
  const keyProblem = known || key === '' ? undefined : problemOf(key, all, words.editor)
  const canSave = check.state === 'good' && key !== '' && keyProblem === undefined && title.trim() !== ''
  return (
    <form class="editor" onSubmit={save.submit}>
      <div class="stack">
        <Field
          label={words.editor.key}
          hint={words.editor.keyHint}
          problem={keyProblem}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          required
          readOnly={known !== undefined}
          maxLength={64}
          value={key}
          onText={setKey}
        />
        <Field
          label={words.editor.titleLabel}
          hint={words.editor.titleHint}
          autocomplete="off"
          required
          maxLength={100}
          value={title}
          onText={setTitle}
        />
        {!known && <StartFrom all={all} chosen={from?.key ?? ''} onChoose={start} />}
        <TextArea
          label={words.editor.query}
          rows={18}
          value={text}
          problem={check.state === 'bad' && check.reason}
          onText={setText}
        />
        <TextArea
          label={words.editor.rules}
          hint={words.editor.rulesHint}
          rows={4}
          placeholder={RULES_EXAMPLE}
          value={rules}
          problem={check.state === 'bad' && check.rulesReason}
          onText={setRules}
        />
        <Field
          label={words.editor.purpose}
          hint={words.editor.purposeHint}
          autocomplete="off"
          maxLength={300}
          value={purpose}
          onText={setPurpose}
        />
        <Select
          label={words.editor.profile}
          value={profile}
          options={[['', words.templates.operator], ...PROFILES.map(each => [each, words.templates.profiles[each]] as const)]}
          onChoose={setProfile}
        />
        <Problem of={save.problem} />
        <div class="row">
          <Button kind="primary" type="submit" busy={save.isBusy} disabled={!canSave}>
            {words.editor.save}
          </Button>
          <Button onClick={() => goTo(hrefTo(known ? `templates/${encodeURIComponent(key)}` : 'templates'))}>
            {common.cancel}
          </Button>
        </div>
      </div>
      <Result check={check} title={title} purpose={purpose} />
    </form>
  )
}

/** Empty for the default. */
const rulesText = (template: Template | undefined): string =>
  template?.saved_rules
    ? `[${template.saved_rules.map(rule => `\n  ${JSON.stringify(rule)}`).join(',')}${template.saved_rules.length > 0 ? '\n' : ''}]`
    : ''

const pretty = (query: unknown): string => JSON.stringify(query ?? { credentials: [] }, null, 2)

function problemOf(key: string, all: readonly Template[], words: { keyProblem: string; keyTaken: string }): string | undefined {
  if (!KEY.test(key)) return words.keyProblem
  return all.some(each => each.key === key) ? words.keyTaken : undefined
}

type StartProps = { all: readonly Template[]; chosen: string; onChoose: (template: Template) => void }

function StartFrom({ all, chosen, onChoose }: StartProps) {
  const words = useDashboardWords().editor
  const language = useLanguage()
  const [key, setKey] = useState(chosen)
  return (
    <Select
      label={words.from}
      value={key}
      options={all.map(each => [each.key, each.localized.title[language]])}
      onChoose={chosenKey => {
        const template = all.find(each => each.key === chosenKey)
        setKey(chosenKey)
        if (template) onChoose(template)
      }}
    />
  )
}

/** The result of the query so far. */
function Result({ check, title, purpose }: { check: QueryCheck; title: string; purpose: string }) {
  const words = useDashboardWords()
  return (
    <aside class="stack editor-result">
      <p class={`checked ${check.state}`} role="status">
        {check.state === 'good' && words.editor.good}
        {check.state === 'bad' && (check.rulesReason ? words.editor.badRules : words.editor.bad)}
        {check.state === 'checking' && words.editor.checking}
      </p>
      <Problem of={check.problem} />
      {check.state === 'good' && (
        <>
          <RuleList rules={check.effective_rules} asks={check.asks} />
          <Hints hints={check.hints} />
          <ConsentSketch
            asks={check.asks}
            query={check.query}
            purpose={purpose || words.templates.ownPurpose}
            title={title || words.editor.newTitle}
          />
        </>
      )}
    </aside>
  )
}
