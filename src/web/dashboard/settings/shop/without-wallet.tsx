import type { Look } from '../../../../dashboard/settings/shop/schema.ts'
import { LANGUAGE_NAMES, LANGUAGES, type Language } from '../../../../words/languages.ts'
import { Field, Select } from '../../../kit/field.tsx'
import { useLanguage } from '../../../shared/language.ts'
import { useShopWords } from './words.ts'

export type Lines = NonNullable<Look['without_wallet']>

type Props = { lines: Lines; onChange: ((lines: Lines) => void) | undefined }

/** What customers without a wallet read: in the language of this page at first, and in others on demand. */
export function WithoutWallet({ lines, onChange }: Props) {
  const words = useShopWords()
  const own = useLanguage()
  const shown = LANGUAGES.filter(language => language in lines)
  const written = shown.length > 0 ? shown : [own]
  const further = LANGUAGES.filter(language => !written.includes(language))
  const set = (language: Language, text: string) => onChange?.({ ...lines, [language]: text })
  return (
    <fieldset class="stack tight">
      <legend>{words.withoutWallet}</legend>
      <p class="hint">{words.withoutWalletHint}</p>
      {written.map(language => (
        <Field
          key={language}
          label={LANGUAGE_NAMES[language]}
          lang={language}
          maxLength={300}
          readOnly={!onChange}
          value={lines[language] ?? ''}
          onText={text => set(language, text)}
        />
      ))}
      {onChange && further.length > 0 && (
        <Select
          label={words.furtherLanguage}
          value=""
          options={[['', ''], ...further.map(language => [language, LANGUAGE_NAMES[language]] as const)]}
          onChoose={(language: Language | '') => language && onChange({ [own]: '', ...lines, [language]: '' })}
        />
      )}
    </fieldset>
  )
}

/** Without the languages that were left empty; null for none. */
export function linesOf(lines: Lines): Lines | null {
  const said = Object.entries(lines).flatMap(([language, text]) => (text.trim() ? [[language, text.trim()] as const] : []))
  return said.length > 0 ? Object.fromEntries(said) : null
}
