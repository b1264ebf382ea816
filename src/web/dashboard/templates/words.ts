import { useWords } from '../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useTemplatesWords = () => useWords({ en: en.templates, de: de.templates })

export const useEditorWords = () => useWords({ en: en.editor, de: de.editor })
