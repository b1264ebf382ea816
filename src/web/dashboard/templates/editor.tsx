import { useRef, useState } from 'preact/hooks'
import type { Catalogue, Choice, Template } from '../../../dashboard/templates/schema.ts'
import { followTicks, isAutomatic, strayAges } from '../../../templates/purpose.ts'
import type { StaffLanguage } from '../../../words/languages.ts'
import { Button } from '../../kit/button.tsx'
import { Field, Select, TextArea } from '../../kit/field.tsx'
import { Notice } from '../../kit/notice.tsx'
import { useCommon, useLanguage } from '../../shared/language.ts'
import { useAction } from '../action.ts'
import { useData } from '../data.ts'
import { Fold } from '../parts/fold.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { TemplateSelect } from '../parts/template-menu.tsx'
import { goTo, hrefTo, useRoute } from '../route.tsx'
import { useMayChange, usePlace, useSession } from '../session.tsx'
import { findNamed, useTemplates } from '../template-names.ts'
import { useVerificationWords } from '../verifications/words.ts'
import { useDashboardWords } from '../words.ts'
import { TemplateBuilder } from './builder.tsx'
import { useDraft } from './draft.ts'
import { EditorResult } from './editor-result.tsx'
import { type QueryCheck, useQueryCheck } from './query-check.ts'
import { RuleBuilder, rulesText } from './rule-builder.tsx'
import { purposesIn, TranslationFields, withoutTitles, written } from './translations.tsx'
import { useChoice } from './use-choice.ts'
import { useEditorWords, useTemplatesWords } from './words.ts'

const KEY = /^[a-z0-9_]{1,64}$/
const KEY_CHARS_MAX = 64
const PROFILES = ['haip', 'plain', 'eu-av'] as const
const FIRST_TEMPLATE = 'age_over_18'

export function TemplateEditor({ templateKey }: { templateKey: string }) {
  const words = useEditorWords()
  const { problems } = useDashboardWords()
  const mayChange = useMayChange()
  const language = useLanguage()
  const { inTenant } = usePlace()
  const templates = useTemplates()
  const catalogue = useData<Catalogue>(inTenant('template-catalogue'))
  const { search } = useRoute()
  const known = templates.value?.data.find(({ key, builtin }) => key === templateKey && !builtin)
  const copied = templates.value?.data.find(({ key }) => key === search.get('from'))
  const title = known ? words.editTitle(known.localized.title[language]) : words.newTitle
  if (!mayChange) {
    return (
      <Page title={title}>
        <Notice tone="neutral">{problems.viewer_refused}</Notice>
      </Page>
    )
  }
  return (
    <Page title={title} intro={words.intro}>
      <Loaded data={templates}>
        {({ data }) => (
          <Loaded data={catalogue}>
            {offered => <Editor key={templateKey} known={known} copied={copied} all={data} catalogue={offered} />}
          </Loaded>
        )}
      </Loaded>
    </Page>
  )
}

type EditorProps = {
  known: Template | undefined
  copied: Template | undefined
  all: readonly Template[]
  catalogue: Catalogue
}

function Editor({ known, copied, all, catalogue }: EditorProps) {
  const words = useEditorWords()
  const ofTemplates = useTemplatesWords()
  const common = useCommon()
  const language = useLanguage()
  const { call } = useSession()
  const { inTenant } = usePlace()
  const from = known ?? copied ?? all.find(({ key }) => key === FIRST_TEMPLATE)
  const { work, change, isKept } = useDraft(() => ({
    seenAt: known?.updated_at ?? null,
    ownKey: known?.key,
    title: known?.title ?? (copied && words.copyOf(copied.localized.title[language])) ?? '',
    ...contentOf(from, language, all),
    ...(known && { translations: known.translations ?? {} }),
  }))
  const { seenAt, title, translations, profile, rules, text } = work
  const key = work.ownKey ?? freeKey(keyFrom(title), all)
  const setText = (next: string) => change({ text: next })
  const setRules = (next: string) => change({ rules: next })
  const check = useQueryCheck(text, rules)
  const { choice, isJsonOnly, isBuilt, leftOut, isBuilding, choose, problem } = useChoice(check, text, setText)
  const asked = useAsked(check, choice)
  const purpose = work.isPurposeTyped || !asked ? work.purpose : followTicks(work.purpose, asked, language)
  const save = useAction(async () => {
    if (check.state !== 'good') return
    const body = {
      title: title.trim(),
      query: check.query,
      rules: check.rules,
      purpose: purpose.trim() || null,
      translations: written(translations),
      profile: profile || null,
      seen_at: seenAt,
    }
    await call(inTenant(`templates/${encodeURIComponent(key)}`), { method: 'PUT', body })
    goTo(hrefTo(`templates/${encodeURIComponent(key)}`))
  })
  const keyProblem = known || work.ownKey === undefined ? undefined : problemOf(key, all, words)
  const isUnusual =
    isJsonOnly ||
    rules !== '' ||
    profile !== '' ||
    keyProblem !== undefined ||
    (check.state === 'bad' && check.rulesReason !== undefined)
  // Of a text before, the check would save that.
  const isChecked = check.state === 'good' && check.text === text && check.rulesText === rules && !isBuilding
  const canSave = isChecked && key !== '' && keyProblem === undefined && title.trim() !== ''
  return (
    <form class="editor grid start" onSubmit={save.submit}>
      <div class="stack">
        {isKept && <Notice tone="neutral">{words.kept}</Notice>}
        <Field
          label={words.titleLabel}
          hint={words.titleHint}
          autocomplete="off"
          required
          maxLength={100}
          value={title}
          onText={next => change({ title: next })}
        />
        {!known && <StartFrom all={all} chosen={from?.key ?? ''} onChoose={chosen => change(contentOf(chosen, language, all))} />}
        {choice && <TemplateBuilder catalogue={catalogue} choice={choice} leftOut={leftOut} onChange={choose} />}
        {isJsonOnly && <Notice tone="neutral">{words.jsonOnly}</Notice>}
        {isBuilt && check.state === 'bad' && check.reason && text !== pretty(undefined) && (
          <Notice tone="no">{check.reason}</Notice>
        )}
        <Problem of={problem} />
        <Field
          label={words.purpose}
          hint={words.purposeHint}
          autocomplete="off"
          maxLength={300}
          value={purpose}
          onText={next => change({ purpose: next, isPurposeTyped: true })}
        />
        <StrayAges purposes={[purpose, ...purposesIn(translations)]} check={check} />
        <TranslationFields translations={translations} onChange={next => change({ translations: next })} />
        <Fold title={words.advanced} holds={isUnusual}>
          <div class="stack">
            <Field
              label={words.key}
              hint={words.keyHint}
              problem={keyProblem}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              readOnly={known !== undefined}
              maxLength={KEY_CHARS_MAX}
              value={key}
              onText={next => change({ ownKey: next })}
            />
            <RuleBuilder
              text={rules}
              claims={asked ?? []}
              effective={check.state === 'good' ? check.effective_rules : []}
              onText={setRules}
            />
            <Select
              label={words.profile}
              value={profile}
              options={[['', ofTemplates.operator], ...PROFILES.map(each => [each, ofTemplates.profiles[each]] as const)]}
              onChoose={next => change({ profile: next })}
            />
            <TextArea
              label={words.query}
              hint={words.queryHint}
              rows={18}
              value={text}
              problem={check.state === 'bad' && !isBuilt && check.reason}
              onText={setText}
            />
            <TextArea
              label={words.rulesJson}
              hint={words.rulesHint}
              rows={4}
              value={rules}
              problem={check.state === 'bad' && check.rulesReason}
              onText={setRules}
            />
          </div>
        </Fold>
        <Problem of={save.problem} />
        <div class="row">
          <Button kind="primary" type="submit" busy={save.isBusy} disabled={!canSave}>
            {words.save}
          </Button>
          <Button onClick={() => goTo(hrefTo(known ? `templates/${encodeURIComponent(key)}` : 'templates'))}>
            {common.cancel}
          </Button>
        </div>
      </div>
      <EditorResult check={check} title={title} purpose={purpose} isOpen={isBuilt && text === pretty(undefined)} />
    </form>
  )
}

/** Those parts of a template that one made from it begins with. */
const contentOf = (template: Template | undefined, language: StaffLanguage, all: readonly Template[]) => ({
  profile: template?.profile ?? ('' as NonNullable<Template['profile']> | ''),
  rules: savedRules(template),
  ...purposeOf(template, language, all),
  translations: withoutTitles(template?.translations ?? {}),
  text: pretty(template?.query),
})

/** An own template's purpose was typed by somebody, unless it is that of a built-in one. */
function purposeOf(template: Template | undefined, language: StaffLanguage, all: readonly Template[]) {
  const purpose = (template?.builtin ? template.localized.purpose?.[language] : template?.purpose) ?? ''
  const builtin = all.filter(each => each.builtin).flatMap(({ localized }) => Object.values(localized.purpose ?? {}))
  return { purpose, isPurposeTyped: template !== undefined && !template.builtin && !isAutomatic(purpose, builtin) }
}

/** The claims that are asked for; while the query cannot be read, those of before. */
function useAsked(check: QueryCheck, choice: Choice | undefined): string[] | undefined {
  const known = useRef<string[] | undefined>(undefined)
  const claims = check.state === 'good' ? check.asks.flatMap(asked => asked.claims) : choice?.steps.flatMap(step => step.claims)
  if (claims) known.current = [...new Set(claims)]
  return known.current
}

/** A hint where a purpose names an age that is not asked for. */
function StrayAges({ purposes, check }: { purposes: readonly string[]; check: QueryCheck }) {
  const words = useEditorWords()
  const { ageOver } = useVerificationWords()
  if (check.state !== 'good') return null
  const claims = check.asks.flatMap(asked => asked.claims)
  const ages = check.effective_rules.flatMap(rule => ('age_at_least' in rule ? [rule.age_at_least] : []))
  const { named, asked } = strayAges(purposes.join('. '), { claims, ages })
  if (named.length === 0) return null
  const list = (years: readonly number[]) => years.map(each => ageOver(String(each))).join(', ')
  return <Notice tone="wait">{words.strayAge(list(named), list(asked))}</Notice>
}

/** Empty for the default. */
const savedRules = (template: Template | undefined): string => (template?.saved_rules ? rulesText(template.saved_rules) : '')

const pretty = (query: unknown): string => JSON.stringify(query ?? { credentials: [] }, null, 2)

/** A key made from a title: small letters, digits and underscores. */
const keyFrom = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, KEY_CHARS_MAX) ||
  (title.trim() && 'template')

/** Whoever names no key meets no problem with it. */
function freeKey(key: string, all: readonly Template[]): string {
  if (key === '') return ''
  const names = [key, ...Array.from({ length: all.length + 1 }, (_, i) => `${key.slice(0, KEY_CHARS_MAX - 4)}_${i + 2}`)]
  return names.find(name => !findNamed(all, name)) ?? ''
}

function problemOf(key: string, all: readonly Template[], words: { keyProblem: string; keyTaken: string }): string | undefined {
  if (!KEY.test(key)) return words.keyProblem
  return findNamed(all, key) ? words.keyTaken : undefined
}

type StartProps = { all: readonly Template[]; chosen: string; onChoose: (template: Template) => void }

function StartFrom({ all, chosen, onChoose }: StartProps) {
  const words = useEditorWords()
  const [key, setKey] = useState(chosen)
  return (
    <TemplateSelect
      label={words.from}
      templates={all}
      value={key}
      onChoose={chosenKey => {
        const template = all.find(each => each.key === chosenKey)
        setKey(chosenKey)
        if (template) onChoose(template)
      }}
    />
  )
}
