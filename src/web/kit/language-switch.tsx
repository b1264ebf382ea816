import { LANGUAGE_NAMES } from '../../words/languages.ts'
import { chooseLanguage, offered, useCommon, useReadersLanguage } from '../shared/language.ts'
import { Icon } from './icons.tsx'

/** Switches between the languages of a page, each named in itself: by a button between two, by a list among more. */
export function LanguageSwitch() {
  const current = useReadersLanguage()
  const words = useCommon()
  const others = offered().filter(language => language !== current)
  const [other] = others
  if (others.length === 1 && other)
    return (
      <button type="button" class="language touch" lang={other} onClick={() => chooseLanguage(other)}>
        <Icon name="language" />
        {LANGUAGE_NAMES[other]}
      </button>
    )
  return (
    <label class="language touch">
      <Icon name="language" />
      <span class="only-heard">{words.language}</span>
      <select value={current} onChange={event => chooseLanguage(offered()[event.currentTarget.selectedIndex]!)}>
        {offered().map(language => (
          <option key={language} value={language} lang={language}>
            {LANGUAGE_NAMES[language]}
          </option>
        ))}
      </select>
    </label>
  )
}
