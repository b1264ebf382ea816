import type { Template } from '../../../dashboard/templates/schema.ts'
import { LANGUAGE_NAMES, LANGUAGES, type Language } from '../../../words/languages.ts'
import { Field, Select } from '../../kit/field.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Fold } from '../parts/fold.tsx'
import { useEditorWords } from './words.ts'

type Translations = NonNullable<Template['translations']>

/** Staff read titles, in the languages of their pages. */
const TITLED: readonly Language[] = ['en', 'de']

type Props = { translations: Translations; onChange: (translations: Translations) => void }

/** Title and purpose in languages beside the shop's. */
export function TranslationFields({ translations, onChange }: Props) {
  const words = useEditorWords()
  const added = LANGUAGES.filter(language => translations[language])
  const set = (language: Language, part: object) =>
    onChange({ ...translations, [language]: { ...translations[language], ...part } })
  const remove = (language: Language) => {
    const { [language]: _, ...rest } = translations
    onChange(rest)
  }
  return (
    <Fold title={words.addLanguage} holds={added.length > 0}>
      <div class="stack">
        {added.map(language => (
          <div key={language} class="step box stack">
            {TITLED.includes(language) && (
              <Field
                label={words.titleIn(LANGUAGE_NAMES[language])}
                autocomplete="off"
                maxLength={100}
                value={translations[language]?.title ?? ''}
                onText={title => set(language, { title })}
              />
            )}
            <div class="inline-form row">
              <Field
                label={words.purposeIn(LANGUAGE_NAMES[language])}
                autocomplete="off"
                maxLength={300}
                value={translations[language]?.purpose ?? ''}
                onText={purpose => set(language, { purpose })}
              />
              <button
                type="button"
                class="icon-button"
                aria-label={words.removeLanguage(LANGUAGE_NAMES[language])}
                onClick={() => remove(language)}
              >
                <Icon name="trash" />
              </button>
            </div>
          </div>
        ))}
        <Select
          label={words.language}
          value=""
          options={[
            ['', words.chooseLanguage],
            ...LANGUAGES.filter(each => !added.includes(each)).map(each => [each, LANGUAGE_NAMES[each]] as const),
          ]}
          onChoose={(language: Language | '') => language && set(language, {})}
        />
        <p class="hint">{words.languageHint}</p>
      </div>
    </Fold>
  )
}

export const purposesIn = (translations: Translations): string[] =>
  Object.values(translations).flatMap(({ purpose }) => purpose ?? [])

/** A copy has a title of its own. */
export const withoutTitles = (translations: Translations): Translations =>
  Object.fromEntries(Object.entries(translations).map(([language, { purpose }]) => [language, { purpose }]))

/** Without what was left empty. */
export function written(translations: Translations): Translations | null {
  const all = Object.entries(translations).flatMap(([language, { title = '', purpose = '' }]) => {
    const said = { ...(title.trim() && { title: title.trim() }), ...(purpose.trim() && { purpose: purpose.trim() }) }
    return Object.keys(said).length > 0 ? [[language, said] as const] : []
  })
  return all.length > 0 ? Object.fromEntries(all) : null
}
