import { mount } from '../kit/mount.tsx'
import { BASE } from '../shared/base.ts'
import { Hosted } from './hosted.tsx'
import { offerLanguages } from './words.ts'

const [, id = ''] = location.pathname.slice(BASE.pathname.length).split('/')

offerLanguages()
mount(<Hosted id={decodeURIComponent(id)} />)
