import type { Template } from '../../dashboard/templates/schema.ts'
import { useLanguage } from '../shared/language.ts'
import { type Data, useData } from './data.ts'
import { usePlace } from './session.tsx'
import { useVerificationsWords } from './verifications/words.ts'

export type TemplatesData = Data<{ data: Template[] }>

export function useTemplates(): TemplatesData {
  const { inTenant } = usePlace()
  return useData<{ data: Template[] }>(inTenant('templates'))
}

/** The title of a template by its key; the key itself if the template is gone. */
export function useTemplateTitle({ value }: TemplatesData): (key: string | undefined) => string {
  const { ownQuery } = useVerificationsWords()
  const language = useLanguage()
  return key => {
    if (key === undefined) return ownQuery
    return value?.data.find(template => template.key === key)?.localized.title[language] ?? key
  }
}
