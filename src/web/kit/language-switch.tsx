import { chooseLanguage, useLanguage } from '../shared/language.ts'
import { Icon } from './icons.tsx'

/** Switches to the other language, named in that language. */
export function LanguageSwitch() {
  const other = useLanguage() === 'en' ? 'de' : 'en'
  const name = { en: 'English', de: 'Deutsch' }[other]
  return (
    <button type="button" class="language touch" lang={other} onClick={() => chooseLanguage(other)}>
      <Icon name="language" />
      {name}
    </button>
  )
}
