BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
BBBBB BBBBBXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Teams') X
          XXXXX gettext(u'Teams share jobs, data, secrets and a quota.') XX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXX pgettext(u'field', u'New team') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXXXXXXXX XXXXXXXXXXXX XX
  XXXXXXXX XXXXXXXXXXXXX
     pgettext(u'heading', u'No teams yet') 
    XXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXXXXXXX XXXX XXXXXX XXXXXXXX
       gettext(u'People run jobs in teams, so the first step is a team.') 
      XXXXXXX XXXXXXXXXXXXXXX
        BB BBBBBBBBB
          XXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXX pgettext(u'field', u'New team') X XX
        BBBBB
      XXXXXXXXX
    XXXXXXXXXX
  XXXXXXXXXX
  BB BBBBBBBBB
     pgettext(u'heading', u'New team') 
    XXXXXXXXXXXXXX XXXXXXXXXXXXX
                   XXXXXXXXXXXXXX
                   XXXXXXXX pgettext(u'button', u'Create team') XX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXX
               XXXXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Short name') X
               XXXXXX gettext(u"Lowercase letters, digits and hyphens. It can't be changed later.") XX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXX
               XXXXXXXX
               XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
               XXXXXXX gettext(u'Use lowercase letters, digits and hyphens. Begin with a letter and end with a letter or digit.') X
               XXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
