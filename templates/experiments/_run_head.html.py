BBBB BBBB BBBBBB
 #

XXXX XXXXXXXXXXXXXXXX XXXXXXXXXX
  XXXX XXXXXXXXXXXXX
    XXXX XXXXXXXXXX XXXXXXXXXXX
      XXXXX XXXXXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXXXXXXX XXXXXXXXXXX XX
      XXXXXXX
      XXXXXXXXX
    XXXXXX
    XX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXX
      XXXXXXXXXXXXX
      XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX
      XXXXXXXX XXXXXXXXXXXXXXXXXXXXXFFFFFFFFFFXXXXXXXXXXX
      BB BBB
        XXXXXX
          XX XXXXXXXXXXXXXX
             pgettext(u'link', u'Job #%(n)s') 
              SSS SSSSSS
            
          XXXX
        XXXXXXX
      BBBBB
      BB BBB BBB
        XXXXX XXXXXXX gettext(u"Its program ran elsewhere, so Muster can't start it again. Its parameters and files are here.") XX pgettext(u'text, experiments', u'no job, logged by a client') XXXXXXX
      BBBBB
      BBB BBB BB BBBBBB
        XXXXXX
           pgettext(u'text, experiments', u'Nested in') 
          XX XXXXXXXXXXXX
        XXXXXXX
      BBBBBB
      BB BBBBBBBBBBBB BB BBB BBBB
        XXXXXX
           pgettext(u'text, experiments', u'ran %(time)s') 
            SSS SSSSSSSS
          
        XXXXXXX
        XXXXXXFFFXXXXXXX
      BBBB
        XXXXXX
           pgettext(u'text, experiments', u'%(time)s elapsed') 
            SSSSSSSS SSSSSSS
          
        XXXXXXX
      BBBBB
      BB BBBBBBBBBBBBBBB
        XXXXXX pgettext(u'text, experiments', u'archived') XXXXXXX
      BBBBB
    XXXX
  XXXXXX
  XXXX XXXXXXXXXXXXXXXX
    BB BBBBBBBBB
      XXXXXXXX XXXXXXXXXXXXX
        XXXXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXX pgettext(u'spoken label', u'More actions') XXXXXXXXXXXXX
        XXXX XXXXXXXXXXXX XXXXX
          XXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'menu', u'Rename') XXXXXXXXX
          XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX
            BBBBBBBBBB
            BB BBBBBBBBBBBBBBB
              XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXX pgettext(u'menu', u'Unarchive') XXXXXXXXX
            BBBB
              XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'menu', u'Archive') XXXXXXXXX
            BBBBB
            XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'menu', u'Delete') XXXXXXXXX
          XXXXXXX
        XXXXXX
      XXXXXXXXXX
    BBBBB
    BB BBB BB BBBBBBBBBBB BBB BBB
      XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX XXXXXXXXXXXX XX
    BBBB
      XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX XX
    BBBBB
  XXXXXX
XXXXXX
BB BBBBBBBBB
  XXXXXXXXX XXXXXXXXXXXXXXX
            XXXXXXX pgettext(u'title of a dialog', u'Rename run') XX
    XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX
      BBBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXX
               XXXXXXXX
               XXXXXXXXXXXXXXX
               XXXXXXXX
               XXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
      XXXX XXXXXXXXXX XXXXX
        XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Cancel') XXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
      XXXXXX
    XXXXXXX
  XXXXXXXXXXX
BBBBB
