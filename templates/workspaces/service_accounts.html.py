BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
BBBBB BBBBBXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Service accounts') X
          XXXXX gettext(u'For pipelines and programs that keep working when people leave.') XX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXXXXX XXXXXXX gettext(u'New service account') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBBBBXXXXXXXXXX XXXXXXXXXXXX XXBBBBB
    XXXXXXXX XXXXXXXXXXXXX
       gettext(u'No service accounts yet') 
      XXXXXXXX XXXXXXXXXXXXXXX
         gettext(u"A service account gives a pipeline its own name, role and tokens. It can't sign in.") 
          S SSSSSSS SSSSSSS SSSSS S SSSSSSSS SSS SSS SSSSS SSSS SSS SSSSSSS SS SSSSS SSSS SSS
        
        BB BBB BBBBBBBBB
           gettext(u'An admin can create one.') 
        BBBBB
        XXXXXXX XXXXXXXXXXXXXXX
          BB BBBBBBBBB
            XXXXXXXXX XXXXXXXXXXXXXXXXXXXX XXXXXXX gettext(u'New service account') X XX
          BBBBB
        XXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXX
  XXXXXX
  BB BBBBBBBBB
     gettext(u'New service account') 
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXX
                   XXXXXXXX pgettext(u'button', u'Create') XX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Name') X
               XXXXXX gettext(u'Lowercase letters, digits and hyphens.') XX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXX
               XXXXXXXX
               XXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
               XXXXXXX gettext(u'Use lowercase letters, digits and hyphens. Begin with a letter and end with a letter or digit.') X
               XXXXXXXXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXX
               XXXXXXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Description') XX
        XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Role') XX
        XXXXXXX XXXXXXXXXXXX
          BBB B BB BBBBB
            XXXXXXX XXXXXXXX
                    BB BBBBBB BB BBBBBBBBXXXXXXXXBBBBBXFFFFFFFFFFXXXXXXXXX
          BBBBBB
        XXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
