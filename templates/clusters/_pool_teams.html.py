BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX gettext(u'Teams with access') XX
  XXXXXXX XXXXXXXXXXXXXXX
    BB BBBBBBBBB BBB BBBBBBBBB
      XXXXXXX XXXXXXXXXX XXXXXX
              XXXXXXXXXXXXX
              XXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Give access') XXXXXXXXX
    BBBBB
  XXXXXXXXX
  BB BBBBBBBBBBBB
    XX XXXXXXXXXXXX XXXXXXX gettext(u'This pool is open to all teams.') XXXX
  BBBBB
  BBB BBBBB BBBB BB BBBBB
    XXXXXXX XXXXXXXXXXXXXXXXXX
  BBBBBB
  BBB BBB BB BBBBBBB
    XXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXX
      BBBBBBBBBB
      XXXXXX XXXXXXXXXXXXX
             XXXXXXXXXXX
             XXXXXXXXXX
      XXXXXX
        XX XXXXXXXXXXXXXXXXXXXX
        XXXXX XXXXXXXXXXXX XXXXXXXXXXXXXX
        BB BBBBBBBBBB BB BBBBBBBBBBB BB BBBBBBB
          XXXXX XXXXXXXXXXXX XXXXX XXXXXX  XXXXXXX
        BBBBB
      XXXXXXX
      BB BBBBBBBBB
        XXXXXXX XXXXXXXXXX XXXXX XXXXX XXXXXXX
                XXXXXXXXX
                XXXXXXXXXXXXXX
                XXXXXXXXXXXXXX gettext(u"Remove the access of %(name)s to %(p)s? Running jobs continue; new jobs can't use it.") 
                  SSSSSS SSS SSSSSS SS SSSSSSSS SS SSSSSS SSSSSSS SSSS SSSSSSSSS SSS SSSS SSSSS SSS SSS
                X
                XXXXXXXXXX pgettext(u'button', u'Remove access') XX pgettext(u'button', u'Remove') XXXXXXXXX
      BBBBB
    XXXXXXX
  BBBBBB
  BB BBB BBBBBBBBBBBB BBB BBB BBBBB BBB BBB BBBBBBB
    XX XXXXXXXXXXXX XXXXXXX
      BB BBB
         gettext(u'No team of this organization has access.') 
      BBBB
         gettext(u'No team has access.') 
      BBBBB
    XXXX
  BBBBB
XXXXXXXXXX
