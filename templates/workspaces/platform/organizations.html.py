BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
   npgettext(u'number of things', u'%(n)s organization', u'%(n)s organizations',count) 
    SSSSS SSSSSSSSSSSS
  
    PPPPP PPPPPPPPPPPPP
  
  XXXXXXX XXXXXXX pgettext(u'page title', u'Organizations') X
          XXXXXXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXXXX pgettext(u'field', u'New organization') X XX
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBB
      XXXX XXXXXXXXXXX XXXX XXXXXXXXX
        XXX
          XXXXXXXX gettext(u'%(n)s was created.') SSSSS SSS SSSSSSSSXXXXXXXXX
          BB BBBBBBBB
             gettext(u'Send %(o)s this link to set a password. It is shown only now and works for three days.') 
              SSSS SSSSS SSSS SSSS SS SSS S SSSSSSSSS SS SS SSSSS SSSS SSS SSS SSSSS SSS SSSSS
              SSSSS
            
          BBBB
             gettext(u'%(o)s owns it, and signs in as before.') 
              SSSSS SSSS SSS SSS SSSSS SS SS SSSSSSS
            
          BBBBB
          XX XXXXXXXXXX pgettext(u'link, to open', u'Open') XXXX
        XXXX
        BB BBBBBBBB
          XXXX XXXXXXXXXXXXX
            XXXX XXXXXXXXXXXXXXXXXXX
            XXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Copy') XXXXXXXXX
          XXXXXX
        BBBBB
      XXXXXX
    BBBBB
    XXXXXXXXXX XXXXXXXXXXXX XX
    XXXXXXXX XXXXXXXXXXXX XX
  XXXXXX
  XXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXX
                 XXXXXXX pgettext(u'heading', u'New organization') X
                 XXXXXXXX pgettext(u'button', u'Create organization') XX
    XXXX XXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX pgettext(u'field', u'Name') XXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXX
      XXXXXXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX gettext(u'Short name for URLs') XXXXXXX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXX
               XXXXXXXXXXXXXX
               XXXXXXXX
               XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
               XXXXXXX gettext(u'Use lowercase letters, digits and hyphens. Begin with a letter and end with a letter or digit.') X
               XXXXXXXXXXXXXXXXXXX
      XXXXXXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX pgettext(u'field', u"Owner's email") XXXXXXX
        XXXXXX XXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXX
      XXXXXXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX pgettext(u'field', u"Owner's name") XXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXX
      XXXXXXXX
    XXXXXX
  XXXXXXXXXXXXXXXX
BBBBBBBB
