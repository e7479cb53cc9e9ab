BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'%(done)s of %(all)s steps done. Steps are checked off automatically.') 
    SSSSSSSS SS SSSSSSS SSSSS SSSSS SSSSS SSS SSSSSSS SSS SSSSSSSSSSSSSS
  
  XXXXXXX XXXXXXX pgettext(u'page title', u'Setup guide') X
          XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      XXXXX XXXXXXXXXXXXXX
        BBBBBBBBBB
        BB BBBBBBBBBBBBB
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Hide from Home') XXXXXXXXX
        BBBB
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Show on Home') XXXXXXXXX
        BBBBB
      XXXXXXX
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBBBBBBBBBBBBBBB
      XXXXXXX XXXXXXXXXXX XXXXXXX gettext(u'Setup is complete.') XX
         gettext(u'%(name)s is ready to use.') SSSSSSSS SS SSSSS SS SSSS
      XXXXXXXXX
    BBBBB
    XXX XXXXXXXXXXXXXX
      BBB B BB BBBBB
        XXX XXXXXXXXXXXXBB BBBBBBBBBBBBBB XXXXXXXBBBBBX
            XXXXXXXXXXXXX
          XXXXXXX XXXXXXXBB BBBBBBBBBBBBBBXXXXXXXXXBBBBXXXXXXBBBBBX XX
          XXXX XXXXXXXXXXXXX
            XXXXXXX
            BB BBBBBBBBBBBBBB
              XXXXX XXXXXXXXXXXXXX pgettext(u'text, jobs', u'Done') XXXXXXX
            BBBBB
            XX XXXXXXXXXXXX XXXXXXX
              
              BB BBB BBBBB
                 gettext(u'Only a platform operator can do this.') 
              BBBBB
            XXXX
          XXXXXX
          BB BBBBB
            XX XXXXXXXXXXBB BBBBBB BB BBBBBBBBBBBBB XXXXXXXBBBBBX
               XXXXXXXX
              BB BBBBBBBBBBBBBB
                 pgettext(u'button, to open', u'Open') 
              BBBB
                 pgettext(u'button', u'Start') 
              BBBBB
            XXXX
          BBBBB
        XXXXX
      BBBBBB
    XXXXX
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXX
                   XXXXXXX pgettext(u'title of a dialog', u'Name of the organization') X
                   XXXXXXXX pgettext(u'button', u'Rename') X
                   XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXX
               XXXXXXXXXXXXXXX
               XXXXXXXX
               XXXXXXXXX
               XXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXXXXXXXX
  XXXXXX
BBBBBBBB
